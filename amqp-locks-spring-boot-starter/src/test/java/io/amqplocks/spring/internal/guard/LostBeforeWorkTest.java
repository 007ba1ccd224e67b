package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LeaseLostEvent;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Mono;

/** The first of two locks is lost while the second one is waited for. */
@BrokerTest
class LostBeforeWorkTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;

  LostBeforeWorkTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final AtomicInteger ran = new AtomicInteger();

    int ran() {
      return ran.get();
    }

    @MutexGuarded(name = "${test.lock}")
    @MutexGuarded(name = "${test.lock}-two")
    String plain() {
      return "ran " + ran.incrementAndGet();
    }

    @MutexGuarded(name = "${test.lock}")
    @MutexGuarded(name = "${test.lock}-two")
    CompletableFuture<String> future() {
      return CompletableFuture.completedFuture(plain());
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    @MutexGuarded(name = "${test.lock}-two")
    Mono<String> mono() {
      return Mono.just(plain());
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    @MutexGuarded(name = "${test.lock}-two", maxWait = "20s")
    CompletableFuture<String> failing() {
      return future();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    @MutexGuarded(name = "${test.lock}-two", maxWait = "20s", onBusy = OnBusy.SKIP)
    CompletableFuture<@Nullable String> skipping() {
      return CompletableFuture.completedFuture(plain());
    }
  }

  static class Losses {
    private final AtomicInteger seen = new AtomicInteger();

    int seen() {
      return seen.get();
    }

    @EventListener
    void lost(LeaseLostEvent event) {
      seen.incrementAndGet();
    }
  }

  private static Named<Function<Work, @Nullable Object>> call(
      String name, Function<Work, @Nullable Object> call) {
    return Named.of(name, call);
  }

  static Stream<Named<Function<Work, @Nullable Object>>> calls() {
    return Stream.of(
        call("plain", Work::plain),
        call("future", work -> work.future().join()),
        call("mono", work -> work.mono().block(LONG)));
  }

  static Stream<Named<Function<Work, @Nullable Object>>> callsThatEndBusy() {
    return Stream.of(
        call("AcquireTimeout", work -> work.failing().join()),
        call("null", work -> work.skipping().join()));
  }

  /** Loses the first lock while the call waits, then frees the second if so wanted. */
  private void outcome(
      Function<Work, @Nullable Object> call,
      boolean free,
      java.util.function.Consumer<Object> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .withBean(Losses.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              CompletableFuture<@Nullable Object> called;
              Lease other =
                  context.getBean(LockTemplate.class).mutex(onBroker.name() + "-two").acquire();
              try {
                called = CompletableFuture.supplyAsync(() -> call.apply(work));
                // Not waiting for the first one: that is held, beside the other.
                await()
                    .atMost(LONG)
                    .until(() -> locks.status().held() == 2 && locks.status().waiting() == 1);
                broker.faults().deleteQueue(onBroker.mutexQueue());
                await().atMost(LONG).until(() -> context.getBean(Losses.class).seen() == 1);
                if (!free) {
                  await().atMost(LONG.multipliedBy(2)).until(called::isDone);
                }
              } finally {
                other.close();
              }
              Throwable thrown = catchThrowable(called::join);
              while (thrown instanceof CompletionException && thrown.getCause() != null) {
                thrown = thrown.getCause();
              }
              test.accept(thrown == null ? String.valueOf(called.join()) : thrown);
              assertThat(work.ran()).isZero();
              await().atMost(LONG).until(() -> locks.status().held() == 0);
              assertThat(work.plain()).isEqualTo("ran 1");
            });
  }

  @ParameterizedTest
  @MethodSource("calls")
  void theMethodDoesNotBegin(Function<Work, @Nullable Object> call) {
    outcome(
        call,
        true,
        thrown ->
            assertThat((Throwable) thrown)
                .isInstanceOf(LockException.Lost.class)
                .hasMessageContaining(
                    "mutex '" + onBroker.name() + "' was lost before the method began")
                .hasMessageContaining("REVOKED")
                .satisfies(lost -> assertThat(((LockException) lost).lock()).isPresent()));
  }

  @ParameterizedTest
  @MethodSource("callsThatEndBusy")
  void norDoesItPassForWorkThatWasDone(Function<Work, @Nullable Object> call) {
    outcome(
        call,
        false,
        outcome ->
            assertThat(outcome)
                .isNotInstanceOf(LockException.Lost.class)
                .satisfiesAnyOf(
                    it -> assertThat(it).isInstanceOf(LockException.AcquireTimeout.class),
                    it -> assertThat(it).isEqualTo("null")));
  }
}
