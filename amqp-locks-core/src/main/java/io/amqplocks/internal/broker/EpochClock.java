package io.amqplocks.internal.broker;

import io.amqplocks.lock.FencingToken;
import java.time.Clock;

/**
 * The clock that the epochs of fencing tokens follow, in minutes since 1970.
 *
 * @param clock the time
 */
public record EpochClock(Clock clock) {

  /** By how much the clock of another machine may be behind, in minutes. */
  private static final long SKEW = 10;

  /** The minutes since 1970. */
  public long minutes() {
    return clock.instant().getEpochSecond() / 60;
  }

  /**
   * Whether the token is certainly below those of all counters that the slot may have later. A
   * later counter has a higher epoch, which is also not before the time of its creation. A token
   * whose number is in the minute of its own epoch is below it. Another one, of a counter that was
   * drawn from more than 8 million times, is below it if that minute has passed.
   */
  public boolean isBelowLaterOnes(FencingToken token) {
    long minute = FencingToken.epochOf(token.number());
    return minute == token.epoch() || minute < minutes() - SKEW;
  }
}
