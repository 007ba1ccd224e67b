package io.amqplocks.prover.check;

import java.time.Duration;

/**
 * How long too many may hold at a time, because one of them cannot know better.
 *
 * @param from the moment from which on that is so, in nanoseconds of the monotonic clock
 * @param length how long
 */
public record Tolerance(long from, Duration length) {

  /** Never. */
  public static final Tolerance NONE = new Tolerance(Long.MAX_VALUE, Duration.ZERO);

  boolean covers(long begin, long end) {
    return begin >= from && end - begin <= length.toNanos();
  }
}
