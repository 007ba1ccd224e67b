package io.amqplocks.benchmarks.scale;

/** What a lock can be asked for. */
enum Operation {
  /** A name that was never used is acquired and released; a semaphore is created too. */
  FIRST_USE("first use of a name"),
  /** An acquire and the release, by one client alone. */
  CYCLE("acquire and release"),
  /** One client releases, another that waits acquires. */
  HAND_OVER("hand-over to another client"),
  /** A lease is verified. */
  VERIFICATION("verification");

  private final String title;

  Operation(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
