package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What calls do that find the lock busy: every policy with every kind of result. */
@BrokerTest
class BusyPolicyTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  BusyPolicyTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  @BeforeEach
  void countAnew() {
    BusyWork.ran.set(0);
  }

  private static Named<Function<BusyWork, @Nullable Object>> call(
      String name, Function<BusyWork, @Nullable Object> call) {
    return Named.of(name, call);
  }

  static Stream<Named<Function<BusyWork, @Nullable Object>>> throwing() {
    return Stream.of(
        call("waits", work -> run(work::waits)),
        call("throwing", work -> run(work::throwing)),
        call("waitsLater", work -> work.waitsLater().join()),
        call("throwsLater", work -> work.throwsLater().block(LONG)));
  }

  private static @Nullable Object run(Runnable call) {
    call.run();
    return null;
  }

  private void whileBusy(java.util.function.BiConsumer<BusyWork, AmqpLocks> test) {
    onBroker
        .application()
        .withBean(BusyWork.class)
        .run(
            context -> {
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease other = template.mutex(onBroker.name()).acquire()) {
                test.accept(context.getBean(BusyWork.class), context.getBean(AmqpLocks.class));
                assertThat(context.getBean(AmqpLocks.class).status().waiting()).isZero();
                assertThat(other.lossReason()).isEmpty();
              }
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
    assertThat(BusyWork.ran).hasValue(0);
  }

  @ParameterizedTest
  @MethodSource("throwing")
  void throwsThatItWasBusy(Function<BusyWork, @Nullable Object> call) {
    whileBusy(
        (work, locks) ->
            assertThatExceptionOfType(RuntimeException.class)
                .isThrownBy(() -> call.apply(work))
                .satisfies(
                    thrown ->
                        assertThat(
                                thrown instanceof CompletionException ? thrown.getCause() : thrown)
                            .isInstanceOf(LockException.AcquireTimeout.class)
                            .hasMessageContaining("mutex '" + onBroker.name() + "'")));
  }

  @Test
  void skipReturnsNothing() {
    whileBusy(
        (work, locks) -> {
          work.skipVoid();
          assertThat(work.skipText()).isNull();
          assertThat(work.skipOptional()).isEmpty();
          assertThat(work.skipNumber()).isEmpty();
          assertThat(work.skipFuture().join()).isNull();
          assertThat(work.skipStage().toCompletableFuture().join()).isEmpty();
          assertThat(work.skipMono().blockOptional(LONG)).isEmpty();
          assertThat(work.skipFlux().collectList().block(LONG)).isEmpty();
        });
  }

  @Test
  void theFallbackIsCalledInstead() {
    whileBusy(
        (work, locks) -> {
          assertThat(work.fallback("this")).isEqualTo("instead of this: AcquireTimeout");
          assertThat(work.fallbackFuture().join()).isEqualTo("instead");
          assertThat(work.fallbackMono().block(LONG)).isEqualTo("instead");
          assertThat(work.fallbackFlux().collectList().block(LONG)).containsExactly("in", "stead");
          assertThatExceptionOfType(java.io.FileNotFoundException.class)
              .isThrownBy(work::fails)
              .withMessage("from the fallback");
        });
  }

  @Test
  void theFallbackHoldsNoneOfTheLocks() {
    whileBusy((work, locks) -> assertThat(work.second(() -> locks.status().held())).isEqualTo(1));
  }

  @Test
  void aFreeLockChangesNothing() {
    onBroker
        .application()
        .withPropertyValues("test.little=20s")
        .withBean(BusyWork.class)
        .run(
            context -> {
              BusyWork work = context.getBean(BusyWork.class);
              work.throwing();
              work.skipVoid();
              assertThat(work.skipText()).isEqualTo("work");
              assertThat(work.skipOptional()).contains("work");
              assertThat(work.skipStage().toCompletableFuture().join()).contains("work");
              assertThat(work.skipFlux().collectList().block(LONG)).containsExactly("work", "more");
              assertThat(work.fallback("!")).isEqualTo("work!");
              assertThat(work.fallbackMono().block(LONG)).isEqualTo("work");
              assertThat(work.second(() -> context.getBean(AmqpLocks.class).status().held()))
                  .isEqualTo(-2);
              assertThat(BusyWork.ran).hasValue(8);
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
  }
}
