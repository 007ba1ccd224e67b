package io.amqplocks.spring.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

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
    Work.ran.set(0);
  }

  static class Work {
    private static final AtomicInteger ran = new AtomicInteger();

    private static String ran() {
      ran.incrementAndGet();
      return "work";
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
    void waits() {
      ran();
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
    void throwing() {
      ran();
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
    CompletableFuture<String> waitsLater() {
      return CompletableFuture.completedFuture(ran());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
    Mono<String> throwsLater() {
      return Mono.just(ran());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    void skipVoid() {
      ran();
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = "50ms")
    @Nullable String skipText() {
      return ran();
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    Optional<String> skipOptional() {
      return Optional.of(ran());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    OptionalInt skipNumber() {
      return OptionalInt.of(ran().length());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    CompletableFuture<String> skipFuture() {
      return CompletableFuture.completedFuture(ran());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = "50ms")
    CompletionStage<Optional<String>> skipStage() {
      return CompletableFuture.completedFuture(Optional.of(ran()));
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    Mono<String> skipMono() {
      return Mono.just(ran());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = "50ms")
    Flux<String> skipFlux() {
      return Flux.just(ran(), "more");
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "instead")
    String fallback(String argument) {
      return ran() + argument;
    }

    @SuppressWarnings("UnusedMethod") // by its name
    private String instead(String argument, LockException busy) {
      return "instead of " + argument + ": " + busy.getClass().getSimpleName();
    }

    @MutexGuarded(
        name = "${test.lock}",
        onBusy = OnBusy.FALLBACK,
        maxWait = "50ms",
        fallbackMethod = "insteadFuture")
    CompletableFuture<String> fallbackFuture() {
      return CompletableFuture.completedFuture(ran());
    }

    static CompletableFuture<String> insteadFuture() {
      return CompletableFuture.completedFuture("instead");
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadMono")
    Mono<String> fallbackMono() {
      return Mono.just(ran());
    }

    Mono<String> insteadMono(Exception busy) {
      return Mono.just("instead");
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadFlux")
    Flux<String> fallbackFlux() {
      return Flux.just(ran());
    }

    Flux<String> insteadFlux() {
      return Flux.just("in", "stead");
    }

    @MutexGuarded(name = "before-${test.lock}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "whatIsHeld")
    int second(Supplier<Integer> held) {
      return -held.get();
    }

    int whatIsHeld(Supplier<Integer> held) {
      return held.get();
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "failing")
    String fails() throws java.io.IOException {
      return ran();
    }

    String failing() throws java.io.IOException {
      throw new java.io.FileNotFoundException("from the fallback");
    }
  }

  private static Named<Function<Work, @Nullable Object>> call(
      String name, Function<Work, @Nullable Object> call) {
    return Named.of(name, call);
  }

  static Stream<Named<Function<Work, @Nullable Object>>> throwing() {
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

  private void whileBusy(java.util.function.BiConsumer<Work, AmqpLocks> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease other = template.mutex(onBroker.name()).acquire()) {
                test.accept(context.getBean(Work.class), context.getBean(AmqpLocks.class));
                assertThat(context.getBean(AmqpLocks.class).status().waiting()).isZero();
                assertThat(other.lossReason()).isEmpty();
              }
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
    assertThat(Work.ran).hasValue(0);
  }

  @ParameterizedTest
  @MethodSource("throwing")
  void throwsThatItWasBusy(Function<Work, @Nullable Object> call) {
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
        .withBean(Work.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
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
              assertThat(Work.ran).hasValue(8);
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
  }
}
