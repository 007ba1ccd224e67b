package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.prover.driver.LockRef;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** What is left of plans, and the search for the least that is violated, without any round. */
class ShrinkerTest {

  private static final List<FaultKind> FAULTS =
      List.of(FaultKind.KILL, FaultKind.CUT, FaultKind.QUEUE_CRASH);
  private static final Plan WHOLE = Plan.of(5, FAULTS, Duration.ofSeconds(6));
  private static final LockRef LOCK = new LockRef(LockRef.Kind.CLASSIC_TOKENS, "classic_tokens");

  private final List<Less> tried = new ArrayList<>();

  private Less shrunk(int most, Predicate<Plan> isViolated)
      throws IOException, InterruptedException {
    return new Shrinker(
            WHOLE,
            () -> tried.size() < most,
            left -> {
              tried.add(left);
              return isViolated.test(left.of(WHOLE));
            })
        .shrink(Less.NOTHING, LOCK.name());
  }

  private static boolean hasLock(Plan plan) {
    return plan.work().stream().anyMatch(work -> work.lock().equals(LOCK));
  }

  private static boolean has(Plan plan, FaultKind what) {
    return plan.harms().stream().anyMatch(harm -> harm.what() == what);
  }

  @Test
  void theLeastIsFound() throws Exception {
    Less less =
        shrunk(
            1_000,
            plan ->
                hasLock(plan)
                    && has(plan, FaultKind.CUT)
                    && has(plan, FaultKind.QUEUE_CRASH)
                    && plan.length().toMillis() >= 3_000);
    Plan least = less.of(WHOLE);
    assertThat(least.locks()).extracting(Plan.Slots::lock).containsExactly(LOCK);
    assertThat(least.harms())
        .extracting(Plan.Harm::what)
        .containsExactlyInAnyOrder(FaultKind.CUT, FaultKind.QUEUE_CRASH);
    assertThat(least.clients()).isEqualTo(2);
    assertThat(least.work()).hasSize(2).extracting(Plan.Work::client).containsExactly(0, 1);
    assertThat(least.length()).hasMillis(3_000);
    assertThat(WHOLE.work()).containsAll(least.work());
    assertThat(Less.parse(less.toString())).isEqualTo(less);
  }

  @Test
  void whatNeedsNoFaultLosesAllOfThem() throws Exception {
    assertThat(shrunk(1_000, ShrinkerTest::hasLock).of(WHOLE).harms()).isEmpty();
  }

  @Test
  void nothingIsAcceptedThatIsNotViolated() throws Exception {
    assertThat(shrunk(1_000, plan -> false)).isEqualTo(Less.NOTHING);
    assertThat(tried).hasSize(new HashSet<>(tried).size() * Shrinker.TRIES);
  }

  @Test
  void aStepHasSeveralTries() throws Exception {
    Less less = shrunk(1_000, plan -> hasLock(plan) && tried.size() % Shrinker.TRIES == 0);
    assertThat(less.of(WHOLE).locks()).hasSize(1);
  }

  @Test
  void itEndsWithItsTime() throws Exception {
    Less less = shrunk(2, plan -> true);
    assertThat(tried).hasSize(2);
    assertThat(less).isEqualTo(tried.get(1));
  }

  @Test
  void theWholePlanIsLeftOfNothing() {
    assertThat(Less.NOTHING.of(WHOLE)).isEqualTo(WHOLE);
    assertThat(Less.NOTHING.command(WHOLE)).isEqualTo("--round " + WHOLE.command());
  }

  @Test
  void onlyTheLocksThatAreNamedAreLeftWithTheirWorkAndChanges() {
    Plan left = Less.NOTHING.withLocks(List.of("CLASSIC_TOKENS", "slot_semaphore")).of(WHOLE);
    assertThat(left.locks())
        .extracting(slots -> slots.lock().kind())
        .contains(LockRef.Kind.CLASSIC_TOKENS, LockRef.Kind.SLOT_SEMAPHORE)
        .doesNotContain(LockRef.Kind.MUTEX);
    List<LockRef> locks = left.locks().stream().map(Plan.Slots::lock).toList();
    assertThat(left.work())
        .isEqualTo(WHOLE.work().stream().filter(work -> locks.contains(work.lock())).toList());
    assertThat(left.resizes()).allMatch(each -> locks.contains(each.lock()));
    assertThat(left.harms()).isEqualTo(WHOLE.harms());
  }

  @Test
  void harmsAndChangesAreThoseOfClientsThatAreLeft() {
    for (long seed = 0; seed < 100; seed++) {
      Plan left = Less.NOTHING.withClients(2).of(Plan.of(seed, FAULTS, Duration.ofSeconds(6)));
      assertThat(left.clients()).isEqualTo(2);
      assertThat(left.harms()).isNotEmpty().allMatch(harm -> harm.client() < 2);
      assertThat(left.resizes()).allMatch(each -> each.client() < 2);
    }
  }

  @Test
  void whatIsWrittenIsRead() {
    String text = "locks=a+b:1,clients=2,threads=1,harms=1+3,steady,millis=3000";
    assertThat(Less.parse(text)).hasToString(text);
    assertThat(Less.parse("harms=").harms()).isEmpty();
    assertThat(Less.parse("harms=")).hasToString("harms=");
    for (String wrong : List.of("", "clients", "clients=0", "locs=a", "harms=x")) {
      assertThatThrownBy(() -> Less.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
