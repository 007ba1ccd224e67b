package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.run.Plan.Slots;
import io.amqplocks.prover.run.Plan.Work;
import io.amqplocks.test.Broker;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a search with some locks only would do. No broker is asked. */
class OnlyLocksTest {

  private static final Broker NO_BROKER =
      (Broker)
          Proxy.newProxyInstance(
              Broker.class.getClassLoader(),
              new Class<?>[] {Broker.class},
              (proxy, method, args) -> {
                throw new UnsupportedOperationException(method.getName());
              });

  private final Prover prover =
      new Prover(
          NO_BROKER, List.of(), Path.of("."), new PrintStream(OutputStream.nullOutputStream()));

  private List<LockRef> locks(long seed) {
    Plan plan = prover.left(seed, List.of());
    assertThat(plan.locks())
        .extracting(Slots::lock)
        .containsAll(plan.work().stream().map(Work::lock).toList())
        .containsAll(plan.resizes().stream().map(Plan.Resize::lock).toList());
    return plan.locks().stream().map(Slots::lock).toList();
  }

  @Test
  void oneThatIsNamedIsLeftAndAKindMayHaveSeveral() {
    prover.onlyLocks(List.of("keyed:2", "QUORUM_TOKENS"));
    LongStream.range(0, 300)
        .filter(seed -> !Plan.consumes(seed))
        .forEach(
            seed ->
                assertThat(locks(seed))
                    .isNotEmpty()
                    .allMatch(
                        lock -> lock.kind() == Kind.QUORUM_TOKENS || lock.name().equals("keyed:2"))
                    .extracting(LockRef::name)
                    .contains("keyed:2", "quorum_tokens"));
  }

  @Test
  void roundsThatHaveNoneAreLeftOut() {
    prover.onlyLocks(List.of("SOLE_CONSUMER"));
    for (long seed = 0; seed < 30; seed++) {
      long chosen = prover.withLocks(seed, List.of());
      assertThat(chosen).isBetween(seed, seed + 2);
      assertThat(locks(chosen)).extracting(LockRef::kind).containsOnly(Kind.SOLE_CONSUMER);
    }
  }

  @Test
  void withoutItAllLocksOfARoundAreLeft() {
    assertThat(prover.withLocks(7, List.of())).isEqualTo(7);
    assertThat(locks(7)).hasSize(11);
  }

  @ParameterizedTest
  @ValueSource(strings = {"MUTEX", "mutex", "keyed:11", "active-1", "FENCED_SOLE_CONSUMER"})
  void aKindOrANameIsALock(String lock) {
    assertThatNoException().isThrownBy(() -> prover.onlyLocks(List.of(lock)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"MUTEXES", "Mutex", "keyed", ""})
  void whatNoRoundHasIsRefused(String lock) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> prover.onlyLocks(List.of(lock)))
        .withMessageContaining("no locks");
  }
}
