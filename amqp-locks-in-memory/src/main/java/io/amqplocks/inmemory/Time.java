package io.amqplocks.inmemory;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** Real time, or a time that stands still; {@link #advance} adds to either. */
final class Time {

  /** When something is due that never is. */
  static final long NEVER = Long.MAX_VALUE;

  /** The bound of all jumps together, and what is practically unlimited. Sums do not overflow. */
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

  /** The instant that many nanoseconds after the locks were created. */
  Instant instant(long nanos) {
    return origin.plusNanos(nanos);
  }

  /** The sum of all jumps, in nanoseconds. */
  long added() {
    return added.get();
  }

  void advance(Duration jump) {
    long more = isUnlimited(jump) ? LONGEST.toNanos() : jump.toNanos();
    long unused = added.updateAndGet(sum -> Math.min(sum + more, LONGEST.toNanos()));
  }

  /** When that time is over that begins then. */
  static long after(long start, Duration time) {
    return isUnlimited(time) ? NEVER : start + time.toNanos();
  }

  private static boolean isUnlimited(Duration time) {
    return time.compareTo(LONGEST) >= 0;
  }
}
