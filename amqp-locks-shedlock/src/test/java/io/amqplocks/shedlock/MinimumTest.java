package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.shedlock.Minimum.Change;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of the markers when a lock is extended. */
class MinimumTest {

  /** The clock may begin anywhere. */
  private static final long BEGIN = Long.MAX_VALUE - 5;

  private static long after(Duration time) {
    return BEGIN + time.toNanos();
  }

  @ParameterizedTest
  @CsvSource({
    // had,   passed, wanted,  certain
    "PT0S,    PT0S,   PT0S,    true,  NONE",
    "PT0S,    PT1H,   PT0S,    true,  NONE",
    "PT0S,    PT1H,   PT0S,    false, NONE",
    "PT0S,    PT1M,   PT1S,    true,  ADD",
    "PT60S,   PT0S,   PT60S,   true,  NONE",
    "PT60S,   PT0S,   PT60S,   false, ADD",
    "PT60S,   PT0.1S, PT60S,   true,  ADD",
    "PT60S,   PT0S,   PT60.1S, true,  ADD",
    "PT60S,   PT0S,   PT59S,   true,  NONE",
    "PT60S,   PT0S,   PT59S,   false, ADD",
    "PT60S,   PT0S,   PT58.9S, true,  REPLACE",
    "PT60S,   PT0S,   PT58.9S, false, REPLACE",
    "PT60S,   PT0S,   PT0S,    true,  REPLACE",
    "PT60S,   PT59S,  PT0S,    true,  NONE",
    "PT60S,   PT58S,  PT0S,    true,  REPLACE",
    "PT60S,   PT61S,  PT0S,    true,  NONE"
  })
  void theMarkersAreOnlyChangedIfTheyMustBe(
      Duration had, Duration passed, Duration wanted, boolean certain, Change change) {
    assertThat(new Minimum(had, BEGIN, certain).to(wanted, after(passed))).isEqualTo(change);
  }

  /** Its timer is late by something else each time. */
  @Test
  void whatKeepsALockAliveNeverRemovesTheMarkersInBetween() {
    Duration all = Duration.ofMinutes(10);
    Duration period = Duration.ofSeconds(30);
    long[] lateMillis = {400, 5, 300, 0, 900, 20, 0, 700, 1, 500};
    Minimum minimum = new Minimum(all, BEGIN, true);
    for (int i = 0; i < lateMillis.length; i++) {
      Duration wanted = all.minus(period.multipliedBy(i + 1));
      long now = after(period.multipliedBy(i + 1).plusMillis(lateMillis[i]));
      Change change = minimum.to(wanted, now);
      assertThat(change).isNotEqualTo(Change.REPLACE);
      if (change == Change.ADD) {
        minimum = new Minimum(wanted, now, true);
      }
    }
  }

  @Test
  void inDoubtTheLongerOneCounts() {
    Minimum minimum = new Minimum(Duration.ofSeconds(60), BEGIN, true);
    long now = after(Duration.ofSeconds(10));
    assertThat(minimum.inDoubt(Duration.ofSeconds(20), now))
        .isEqualTo(new Minimum(Duration.ofSeconds(50), now, false));
    assertThat(minimum.inDoubt(Duration.ofSeconds(70), now))
        .isEqualTo(new Minimum(Duration.ofSeconds(70), now, false));
  }
}
