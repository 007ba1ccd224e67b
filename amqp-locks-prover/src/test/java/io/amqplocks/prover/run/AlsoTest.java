package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.run.Plan.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AlsoTest {

  private static final Plan PLAN =
      Plan.of(7, List.of(FaultKind.STOP, FaultKind.CUT), Duration.ofSeconds(6));

  @ParameterizedTest
  @EnumSource
  void whoWorksUnderWhichLockAndWhatIsDoneToThemStays(Also also) {
    Plan changed = also.in(PLAN);
    assertThat(changed).isNotEqualTo(PLAN).isEqualTo(also.in(PLAN));
    assertThat(changed.work()).hasSameSizeAs(PLAN.work());
    List<Work> asBefore = new ArrayList<>();
    for (int i = 0; i < PLAN.work().size(); i++) {
      Work work = changed.work().get(i);
      asBefore.add(new Work(work.client(), work.lock(), PLAN.work().get(i).load()));
    }
    assertThat(
            new Plan(
                changed.seed(),
                changed.clients(),
                changed.locks(),
                asBefore,
                changed.resizes(),
                changed.harms(),
                changed.length()))
        .isEqualTo(PLAN);
  }

  @Test
  void theFirstThreadOfEachClientForEachLockHoldsForLongAndNoOther() {
    Set<List<Object>> seen = new HashSet<>();
    List<Work> expected = new ArrayList<>();
    for (Work work : PLAN.work()) {
      boolean isFirst = seen.add(List.of(work.client(), work.lock()));
      Load load = isFirst ? work.load().holding(4_000_000) : work.load();
      expected.add(new Work(work.client(), work.lock(), load));
    }
    assertThat(seen).hasSizeLessThan(expected.size());
    assertThat(Also.LONG_HOLDS.in(PLAN).work()).isEqualTo(expected);
  }

  @Test
  void nobodyHoldsForLongOrPausesOrGivesUpAtOnce() {
    assertThat(Also.DENSE.in(PLAN).work())
        .filteredOn(work -> !work.lock().kind().consumes())
        .isNotEmpty()
        .allMatch(work -> work.load().holdMicros() <= 200)
        .allMatch(work -> work.load().pauseMicros() == 0)
        .allMatch(work -> work.load().waitMillis() == 5_000);
  }

  /** Plans never ask classic tokens for fencing tokens. */
  @Test
  void someThreadsOfClassicTokensWaitForAFencingTokenAndNoOthers() {
    LockRef tokens = new LockRef(LockRef.Kind.CLASSIC_TOKENS, "tokens");
    LockRef mutex = new LockRef(LockRef.Kind.MUTEX, "mutex");
    Load plain = new Load(2, false, false, 0, 40, 50);
    List<Work> work =
        List.of(
            new Work(0, tokens, plain),
            new Work(0, tokens, plain),
            new Work(1, mutex, plain),
            new Work(1, mutex, plain),
            new Work(1, tokens, plain));
    Plan plan = new Plan(1, 2, List.of(), work, List.of(), List.of(), Duration.ofSeconds(1));
    Load refused = new Load(1, true, false, 5_000, 40, 50);
    assertThat(Also.REFUSED.in(plan).work())
        .extracting(Work::load)
        .containsExactly(refused, plain, plain, plain, refused);
  }
}
