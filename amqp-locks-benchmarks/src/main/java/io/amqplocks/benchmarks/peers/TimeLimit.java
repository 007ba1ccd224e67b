package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;

/**
 * How long one kind may take for one row. The kinds take turns, so only the time of its own turns
 * counts. For one thread.
 */
final class TimeLimit {

  /** It took too long, and is given up. */
  static final class OverException extends Exception {
    private static final long serialVersionUID = 1;
  }

  private final Duration limit;
  private final LongSupplier nanos;
  private long used;
  private long start;

  TimeLimit(Duration limit, LongSupplier nanos) {
    this.limit = limit;
    this.nanos = nanos;
  }

  /** One turn, whose time counts. It asks {@link #check()} between its steps. */
  <T> T turn(Callable<T> turn) throws Exception {
    check(used);
    start = nanos.getAsLong();
    try {
      return turn.call();
    } finally {
      used += nanos.getAsLong() - start;
    }
  }

  /** Throws if the time is over; within a turn. */
  void check() throws OverException {
    check(used + nanos.getAsLong() - start);
  }

  /** What is left of it, within a turn. */
  Duration left() {
    long left = limit.toNanos() - used - (nanos.getAsLong() - start);
    return Duration.ofNanos(Math.max(0, left));
  }

  private void check(long soFar) throws OverException {
    if (soFar >= limit.toNanos()) {
      throw new OverException();
    }
  }
}
