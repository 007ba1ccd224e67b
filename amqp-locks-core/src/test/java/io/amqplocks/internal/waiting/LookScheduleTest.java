package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LookScheduleTest {

  private static final long QUICK = LookSchedule.QUICK_TO.toNanos();
  private static final long RARE = LookSchedule.RARE_FROM.toNanos();

  private final LookSchedule schedule = new LookSchedule(new SplittableRandom(7));

  private List<Boolean> quick(int looks, boolean unannounced) {
    List<Boolean> quick = new ArrayList<>();
    for (int i = 0; i < looks; i++) {
      long pause = schedule.next(unannounced);
      assertThat(pause).matches(drawn -> drawn < QUICK || drawn >= RARE);
      quick.add(pause < QUICK);
    }
    return quick;
  }

  /**
   * A waiter that is notified in time never looks, and one that is not asks a bounded number of
   * times.
   */
  @Test
  void theFirstLookIsRareAndQuickOnesAreFew() {
    assertThat(quick(1, false)).containsExactly(false);
    assertThat(quick(LookSchedule.FIRST_BUDGET, false)).containsOnly(true);
    for (int i = 0; i < 10; i++) {
      assertThat(quick(1 + LookSchedule.BUDGET, false)).containsExactly(false, true, true);
    }
    // In a minute of rare pauses there are few requests: three a second at most, on average.
    long all = 0;
    int looks = 0;
    for (; all < 60_000_000_000L; looks++) {
      all += schedule.next(false);
    }
    assertThat(looks).isBetween(100, 240);
  }

  @Test
  void allAreQuickWhileReleasesAreNotAnnounced() {
    assertThat(quick(50, true)).containsOnly(true);
    assertThat(quick(1, false)).containsExactly(false);
  }

  @Test
  void aNotificationEndsTheQuickOnes() {
    assertThat(quick(3, false)).containsExactly(false, true, true);
    schedule.notified();
    assertThat(quick(1, false)).containsExactly(false);
  }
}
