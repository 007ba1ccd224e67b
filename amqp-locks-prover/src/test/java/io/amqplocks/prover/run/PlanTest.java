package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlanTest {

  private static final Duration LENGTH = Duration.ofSeconds(6);

  /** Seeds of rounds in which nobody consumes. */
  private static LongStream others() {
    return LongStream.range(0, 300).filter(seed -> !Plan.consumes(seed));
  }

  private static List<LockRef.Kind> kinds(boolean consume) {
    return Arrays.stream(LockRef.Kind.values()).filter(kind -> kind.consumes() == consume).toList();
  }

  @Test
  void theSameSeedGivesTheSamePlan() {
    List<FaultKind> faults = List.of(FaultKind.STOP, FaultKind.CUT);
    assertThat(Plan.of(7, faults, LENGTH)).isEqualTo(Plan.of(7, faults, LENGTH));
    assertThat(Plan.of(7, faults, LENGTH)).isNotEqualTo(Plan.of(8, faults, LENGTH));
  }

  @Test
  void somePlansResizeASemaphoreAndAlwaysByTheSameClient() {
    List<Plan> plans = others().mapToObj(seed -> Plan.of(seed, List.of(), LENGTH)).toList();
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
  void everyPlanHasThreeKeysOfOneKindWhichDiffersFromPlanToPlan() {
    List<List<LockRef>> keyed =
        others()
            .mapToObj(
                seed ->
                    Plan.of(seed, List.of(), LENGTH).locks().stream()
                        .map(Plan.Slots::lock)
                        .filter(lock -> lock.name().contains(":"))
                        .toList())
            .toList();
    assertThat(keyed)
        .allSatisfy(
            locks -> {
              assertThat(locks).doesNotHaveDuplicates().hasSize(3);
              assertThat(locks).extracting(LockRef::kind).containsOnly(locks.get(0).kind());
            });
    assertThat(keyed)
        .extracting(locks -> locks.get(0).kind())
        .containsAll(kinds(false))
        .doesNotContainAnyElementsOf(kinds(true));
  }

  @Test
  void everyReadWriteLockHasReadersAndAWriterAndSomeWithoutATokenBesideOthersThatHaveOne() {
    List<List<Load>> works =
        others()
            .mapToObj(
                seed ->
                    Plan.of(seed, List.of(), LENGTH).work().stream()
                        .filter(work -> work.lock().name().equals("read_write_lock"))
                        .map(Plan.Work::load)
                        .toList())
            .toList();
    assertThat(works)
        .allSatisfy(loads -> assertThat(loads).extracting(Load::reads).contains(true, false));
    assertThat(works)
        .anySatisfy(loads -> assertThat(loads).extracting(Load::fenced).contains(true, false))
        .anySatisfy(loads -> assertThat(loads).extracting(Load::fenced).containsOnly(false));
    assertThat(works.stream().flatMap(List::stream).filter(Load::reads).count())
        .isGreaterThan(works.stream().flatMap(List::stream).filter(l -> !l.reads()).count());
  }

  @Test
  void onlyReadWriteLocksHaveReaders() {
    assertThat(Plan.of(7, List.of(), LENGTH).work())
        .filteredOn(work -> work.lock().kind() != LockRef.Kind.READ_WRITE_LOCK)
        .noneMatch(work -> work.load().reads());
  }

  @Test
  void twoKeysShareACounterAndOneHasAnother() {
    assertThat(Plan.KEYS).extracting(PlanTest::counter).containsExactly(9L, 3L, 9L);
  }

  /** As docs/PROTOCOL.md has it, of the first slot. */
  private static long counter(String name) {
    CRC32 hash = new CRC32();
    hash.update(name.getBytes(StandardCharsets.UTF_8));
    return 1 + hash.getValue() % 16;
  }

  @Test
  void everyPlanContendsForEveryKindOfLock() {
    others()
        .mapToObj(seed -> Plan.of(seed, FaultKind.ofSingleBrokers(), LENGTH))
        .forEach(
            plan -> {
              assertThat(plan.locks())
                  .filteredOn(slots -> !slots.lock().name().contains(":"))
                  .extracting(slots -> slots.lock().kind())
                  .containsExactlyElementsOf(kinds(false));
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
              assertThat(plan.harms())
                  .extracting(Plan.Harm::what)
                  .containsAll(FaultKind.ofSingleBrokers());
            });
  }

  @Test
  void oneRoundInThreeHasTwoConsumersOfEachKindOneThreadForEachClientAndNothingElse() {
    List<Plan> plans =
        LongStream.range(0, 300)
            .filter(Plan::consumes)
            .mapToObj(seed -> Plan.of(seed, List.of(), LENGTH))
            .toList();
    assertThat(plans)
        .hasSize(100)
        .allSatisfy(
            plan -> {
              assertThat(plan.locks())
                  .extracting(slots -> slots.lock().kind())
                  .hasSameElementsAs(kinds(true))
                  .hasSize(6);
              assertThat(plan.work()).hasSize(6 * plan.clients());
              assertThat(plan.resizes()).isEmpty();
            });
    assertThat(plans.stream().flatMap(plan -> plan.work().stream()).map(Plan.Work::load))
        .anyMatch(Load::fenced)
        .anyMatch(load -> !load.fenced())
        .anyMatch(load -> load.holdMicros() > 1_000_000)
        .filteredOn(load -> load.holdMicros() <= 600_000)
        .hasSizeGreaterThan(300);
  }

  /** A lease is uncertain after 1.75 s, and the client library ends a connection after two. */
  @ParameterizedTest
  @EnumSource(names = {"DEAF", "MUTE", "PARTITION", "HALF_CUT", "BROKER_STOP"})
  void aSilenceIsShortOrOutlastsTheCertaintyOfLeases(FaultKind silence) {
    assertThat(harms(silence))
        .extracting(harm -> harm.length().toMillis())
        .allMatch(millis -> millis <= 800 || millis >= 2_400)
        .anyMatch(millis -> millis <= 800)
        .anyMatch(millis -> millis > 2_400);
  }

  @Test
  void answersComeTooLateForTooShortATimeToEndAConnection() {
    assertThat(harms(FaultKind.LATE))
        .extracting(harm -> harm.length().toMillis())
        .allMatch(millis -> millis >= 400 && millis <= 1_200);
    assertThat(Plan.LATENESS).isGreaterThan(Plan.HEARTBEAT);
  }

  private static List<Plan.Harm> harms(FaultKind what) {
    return LongStream.range(0, 300)
        .mapToObj(seed -> Plan.of(seed, List.of(what), LENGTH))
        .flatMap(plan -> plan.harms().stream())
        .toList();
  }

  @ParameterizedTest
  @EnumSource(names = {"DEAF", "MUTE", "PARTITION", "HALF_CUT", "BROKER_STOP"})
  void whoIsCutOffForLongHoldsForLongAndNothingElseOfThePlanChanges(FaultKind silence) {
    int longer = 0;
    int could = 0;
    for (long seed = 0; seed < 300; seed++) {
      Plan silent = Plan.of(seed, List.of(silence), LENGTH);
      // It draws the same numbers, so all else is the same.
      Plan other = Plan.of(seed, List.of(likeIt(silence)), LENGTH);
      assertThat(silent.locks()).isEqualTo(other.locks());
      assertThat(silent.resizes()).isEqualTo(other.resizes());
      assertThat(silent.harms())
          .extracting(Plan.Harm::client, Plan.Harm::begin)
          .isEqualTo(other.harms().stream().map(h -> tuple(h.client(), h.begin())).toList());
      Set<Integer> cutOff =
          silent.harms().stream()
              .filter(harm -> harm.length().toMillis() >= 2_400)
              .map(Plan.Harm::client)
              .collect(Collectors.toSet());
      Set<List<Object>> seen = new HashSet<>();
      for (int i = 0; i < other.work().size(); i++) {
        Plan.Work was = other.work().get(i);
        Plan.Work is = silent.work().get(i);
        boolean isFirst = seen.add(List.of(was.client(), was.lock()));
        boolean isMeant = isFirst && cutOff.contains(was.client());
        boolean isLonger = !is.equals(was);
        if (isLonger || (isMeant && was.lock().kind().consumes())) {
          assertThat(isMeant).isTrue();
          assertThat(is.load().holdMicros()).isBetween(3_000_000L, 6_000_000L);
          assertThat(is)
              .isEqualTo(
                  new Plan.Work(
                      was.client(), was.lock(), was.load().holding(is.load().holdMicros())));
        }
        if (isMeant && !was.lock().kind().consumes()) {
          could++;
          longer += isLonger ? 1 : 0;
        }
      }
    }
    assertThat(could).isGreaterThan(1_000);
    assertThat((double) longer / could).isBetween(0.4, 0.6);
  }

  /** A fault of the same length, which is no silence. One of the broker happens only once. */
  private static FaultKind likeIt(FaultKind silence) {
    return silence == FaultKind.BROKER_STOP ? FaultKind.BROKER_KILL : FaultKind.CUT;
  }

  @Test
  void whereQueuesAreDeletedManyHoldForLongAndNothingElseOfThePlanChanges() {
    int longer = 0;
    int could = 0;
    for (long seed = 0; seed < 300; seed++) {
      Plan plan = Plan.of(seed, List.of(FaultKind.QUEUE_DELETE), LENGTH);
      Plan other = Plan.of(seed, List.of(FaultKind.CUT), LENGTH);
      assertThat(plan.locks()).isEqualTo(other.locks());
      assertThat(plan.resizes()).isEqualTo(other.resizes());
      for (Plan.Slots slots : plan.locks()) {
        LockRef lock = slots.lock();
        List<Plan.Work> was = other.work().stream().filter(w -> w.lock().equals(lock)).toList();
        List<Plan.Work> is = plan.work().stream().filter(w -> w.lock().equals(lock)).toList();
        boolean isLonger =
            is.stream().map(Plan.Work::load).allMatch(l -> l.holdMicros() >= 3_000_000);
        assertThat(is.equals(was)).isNotEqualTo(isLonger);
        if (lock.kind().consumes()) {
          assertThat(isLonger).isFalse();
        } else {
          could++;
          longer += isLonger ? 1 : 0;
        }
      }
    }
    assertThat(could).isGreaterThan(1_000);
    assertThat((double) longer / could).isBetween(0.4, 0.6);
  }

  /** Whoever is not told of a loss finds it by a verification, which is three seconds away then. */
  @Test
  void theHeartbeatIsLongWhereQueuesAreDeletedAndNothingElseIsDone() {
    FaultKind delete = FaultKind.QUEUE_DELETE;
    for (long seed = 0; seed < 30; seed++) {
      Duration usual = Duration.ofSeconds(1);
      Duration only = Plan.consumes(seed) ? usual : Duration.ofSeconds(6);
      assertThat(heartbeat(seed, delete)).isEqualTo(only);
      assertThat(heartbeat(seed, delete, FaultKind.QUEUE_CRASH)).isEqualTo(usual);
      assertThat(heartbeat(seed, FaultKind.QUEUE_CRASH)).isEqualTo(usual);
      assertThat(heartbeat(seed)).isEqualTo(usual);
    }
  }

  private static Duration heartbeat(long seed, FaultKind... faults) {
    return Plan.of(seed, List.of(faults), LENGTH).heartbeat();
  }

  @Test
  void aFaultByItselfFindsSomethingToHarm() {
    for (long seed = 0; seed < 30; seed++) {
      assertThat(Plan.consumes(Plan.seedFor(seed, List.of(FaultKind.CONSUMED_CRASH)))).isTrue();
      assertThat(Plan.consumes(Plan.seedFor(seed, List.of(FaultKind.GATE_CRASH)))).isFalse();
      assertThat(Plan.consumes(Plan.seedFor(seed, List.of(FaultKind.GATE_DELETE)))).isFalse();
      assertThat(Plan.consumes(Plan.seedFor(seed, List.of(FaultKind.LINK_DROP)))).isFalse();
      assertThat(Plan.seedFor(seed, List.of(FaultKind.KILL))).isEqualTo(seed);
      assertThat(Plan.seedFor(seed, List.of())).isEqualTo(seed);
    }
  }

  /** There a call that has to wait, or is told that the lock is busy, was wronged. */
  @Test
  void someSemaphoresHaveMoreSlotsThanTheirThreadsWant() {
    int roomy = 0;
    int semaphores = 0;
    for (long seed = 1; seed <= 400; seed++) {
      Plan plan = Plan.of(seed, List.of(), Duration.ofSeconds(1));
      for (Plan.Slots each : plan.locks()) {
        int wanted =
            plan.work().stream()
                .filter(work -> work.lock().equals(each.lock()))
                .mapToInt(work -> work.load().permits())
                .sum();
        if (each.lock().kind().isSemaphore()) {
          semaphores++;
          roomy += each.count() > wanted ? 1 : 0;
        } else {
          assertThat(each.count()).isEqualTo(1);
        }
      }
    }
    assertThat((double) roomy / semaphores).isBetween(0.1, 0.4);
  }
}
