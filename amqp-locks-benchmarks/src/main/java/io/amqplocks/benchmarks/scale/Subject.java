package io.amqplocks.benchmarks.scale;

/** Of what there are more and more. */
enum Subject {
  /** Locks that were acquired and released once. */
  USED("locks, used once"),
  /** The same locks, all of them held, by a few clients. */
  HELD("locks, held"),
  /** Calls of other clients that wait for these locks, one for each. */
  WAITED_FOR("calls that wait"),
  /** Clients that are connected, and hold nothing. */
  CONNECTED("clients, connected"),
  /** Clients of which each holds a lock of its own. */
  HOLDING("clients, each with a lock"),
  /** Clients that all want one lock: one of them holds it. */
  CONTENDING("clients, all want one lock");

  private final String title;

  Subject(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Whether the clients are what there are more of. */
  boolean isOfClients() {
    return this == CONNECTED || this == HOLDING || this == CONTENDING;
  }
}
