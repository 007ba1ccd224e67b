package io.amqplocks.inmemory;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** The time of the locks: real time, or one that stands still, and in both cases what was added. */
final class Time {

  /** Practically unlimited, and small enough for the arithmetic. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final boolean standsStill;
  private final Instant origin = Instant.now();
  private final long originNanos = System.nanoTime();
  private final AtomicLong added = new AtomicLong();

  Time(boolean standsStill) {
    this.standsStill = standsStill;
  }

  boolean standsStill() {
    return standsStill;
  }

  /** The nanoseconds since the locks were created. */
  long nanos() {
    return added.get() + (standsStill ? 0 : System.nanoTime() - originNanos);
  }

  Instant instant() {
    return origin.plusNanos(nanos());
  }

  void advance(Duration time) {
    added.addAndGet(bounded(time));
  }

  /** When that time from now is over. */
  long after(Duration time) {
    return nanos() + bounded(time);
  }

  private static long bounded(Duration time) {
    return (time.compareTo(LONGEST) > 0 ? LONGEST : time).toNanos();
  }
}
