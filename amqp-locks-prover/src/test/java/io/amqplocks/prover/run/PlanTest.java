package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.LockRef;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PlanTest {

  private static final Duration LENGTH = Duration.ofSeconds(6);

  @Test
  void theSameSeedGivesTheSamePlan() {
    List<FaultKind> faults = List.of(FaultKind.STOP, FaultKind.CUT);
    assertThat(Plan.of(7, faults, LENGTH)).isEqualTo(Plan.of(7, faults, LENGTH));
    assertThat(Plan.of(7, faults, LENGTH)).isNotEqualTo(Plan.of(8, faults, LENGTH));
  }

  @Test
  void somePlansResizeASemaphoreAndAlwaysByTheSameClient() {
    List<Plan> plans =
        LongStream.range(0, 200).mapToObj(seed -> Plan.of(seed, List.of(), LENGTH)).toList();
    for (LockRef.Kind kind : List.of(LockRef.Kind.SLOT_SEMAPHORE, LockRef.Kind.QUORUM_TOKENS)) {
      LockRef lock = new LockRef(kind, kind.name().toLowerCase(Locale.ROOT));
      assertThat(plans).filteredOn(plan -> plan.isResized(lock)).hasSizeBetween(20, 180);
      assertThat(plans)
          .allSatisfy(
              plan ->
                  assertThat(plan.resizes())
                      .filteredOn(each -> each.lock().equals(lock))
                      .extracting(Plan.Resize::client)
                      .hasSizeLessThan(100)
                      .satisfies(who -> assertThat(new HashSet<>(who)).hasSizeLessThan(2)));
    }
  }

  @Test
  void everyPlanContendsForEveryKindOfLock() {
    LongStream.range(0, 200)
        .mapToObj(seed -> Plan.of(seed, List.of(FaultKind.values()), LENGTH))
        .forEach(
            plan -> {
              assertThat(plan.locks())
                  .extracting(slots -> slots.lock().kind())
                  .containsExactly(LockRef.Kind.values());
              for (Plan.Slots slots : plan.locks()) {
                assertThat(plan.work())
                    .filteredOn(work -> work.lock().equals(slots.lock()))
                    .extracting(Plan.Work::client)
                    .contains(0, 1)
                    .allMatch(client -> client < plan.clients());
              }
              assertThat(plan.work())
                  .allSatisfy(work -> assertThat(work.load().permits()).isBetween(1, 4));
              assertThat(plan.resizes())
                  .allSatisfy(
                      each -> {
                        assertThat(each.lock().kind().isSemaphore()).isTrue();
                        assertThat(each.client()).isBetween(0, plan.clients() - 1);
                        assertThat(each.slots()).isBetween(1, 5);
                        assertThat(each.begin()).isLessThan(LENGTH);
                      });
              assertThat(plan.harms()).extracting(Plan.Harm::what).contains(FaultKind.values());
            });
  }
}
