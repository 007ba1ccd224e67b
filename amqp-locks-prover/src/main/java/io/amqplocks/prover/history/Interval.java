package io.amqplocks.prover.history;

/**
 * A time, in nanoseconds of the monotonic clock.
 *
 * @param from its first moment
 * @param to its last moment
 */
public record Interval(long from, long to) {

  /** Whether that moment is in it. */
  public boolean has(long moment) {
    return from <= moment && moment <= to;
  }
}
