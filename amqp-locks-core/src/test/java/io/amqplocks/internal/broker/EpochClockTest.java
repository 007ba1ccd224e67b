package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.FencingToken;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class EpochClockTest {

  private static final long NOW = 29_922_510;
  private static final long DRAWS_A_MINUTE = 1 << 23;

  private final EpochClock clock =
      new EpochClock(
          Clock.fixed(Instant.EPOCH.plus(Duration.ofMinutes(NOW)).plusSeconds(59), ZoneOffset.UTC));

  private boolean isBelowLaterOnes(long epoch, long n) {
    return clock.isBelowLaterOnes(new FencingToken(1, epoch, n, FencingToken.MAX_HAND_OVERS));
  }

  @Test
  void countsMinutes() {
    assertThat(clock.minutes()).isEqualTo(NOW);
  }

  @Test
  void aTokenInTheMinuteOfItsEpochIsBelowLaterOnesWhateverTheClockSays() {
    for (long epoch : new long[] {1, NOW, NOW + 1_000_000}) {
      assertThat(isBelowLaterOnes(epoch, 0)).isTrue();
      assertThat(isBelowLaterOnes(epoch, DRAWS_A_MINUTE - 1)).isTrue();
    }
  }

  /** The next counter may be made now, by a machine whose clock is ten minutes behind. */
  @Test
  void aTokenInALaterMinuteIsBelowThemOnceThatMinuteHasPassedForAll() {
    assertThat(isBelowLaterOnes(NOW - 12, DRAWS_A_MINUTE)).isTrue();
    assertThat(isBelowLaterOnes(NOW - 11, DRAWS_A_MINUTE)).isFalse();
    assertThat(isBelowLaterOnes(NOW, DRAWS_A_MINUTE)).isFalse();
    assertThat(isBelowLaterOnes(NOW - 100, 90 * DRAWS_A_MINUTE - 1)).isTrue();
    assertThat(isBelowLaterOnes(NOW - 100, 90 * DRAWS_A_MINUTE)).isFalse();
  }

  /** Made by a clock that is hours ahead, and drawn from millions of times since. */
  @Test
  void aCounterThatIsAheadOfTheClockGivesNoNumbersOfLaterMinutes() {
    assertThat(isBelowLaterOnes(NOW + 300, DRAWS_A_MINUTE)).isFalse();
  }
}
