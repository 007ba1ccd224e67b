package io.amqplocks.shedlock;

import java.time.Duration;

/**
 * How long markers at the broker keep a lock, as far as its holder knows. All times are of {@code
 * System.nanoTime()}.
 *
 * @param time the longest {@code lockAtLeastFor} for which there is a marker, or may be one
 * @param from when that time began
 * @param certain whether there is such a marker; not after the broker did not say whether it stored
 *     or removed one
 */
record Minimum(Duration time, long from, boolean certain) {

  /**
   * A minimum may last longer than wanted by that. {@code KeepAliveLockProvider} wants the same end
   * at each extension, but counts in whole periods, and its timer is late by a little more or less
   * each time. To set the markers anew takes more round trips than to leave them.
   */
  static final Duration TOLERANCE = Duration.ofSeconds(1);

  /** What to do with the markers. */
  enum Change {
    NONE,
    ADD,
    REPLACE
  }

  /** What to do so that the minimum is that long from now on. */
  Change to(Duration wanted, long now) {
    Duration left = left(now);
    if (wanted.plus(TOLERANCE).compareTo(left) < 0) {
      return Change.REPLACE;
    }
    // A lock that is free a moment early is no lock, so there is no tolerance here.
    return wanted.isZero() || (certain && wanted.compareTo(left) <= 0) ? Change.NONE : Change.ADD;
  }

  /** The minimum if nobody knows whether the markers have been changed to the wanted one. */
  Minimum inDoubt(Duration wanted, long now) {
    Duration left = left(now);
    return new Minimum(wanted.compareTo(left) < 0 ? left : wanted, now, false);
  }

  private Duration left(long now) {
    return time.minusNanos(now - from);
  }
}
