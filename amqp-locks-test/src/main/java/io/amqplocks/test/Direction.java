package io.amqplocks.test;

/** The way that bytes take through a {@link TcpProxy}. */
public enum Direction {
  /** What the client sends. */
  CLIENT_TO_BROKER,
  /** What the broker sends. */
  BROKER_TO_CLIENT,
  /** Both ways. */
  BOTH;

  boolean covers(Direction one) {
    return this == BOTH || this == one;
  }
}
