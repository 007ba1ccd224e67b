package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** An application whose methods' work goes on after they have returned. */
abstract class AsyncMethodContract {

  static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose final LocksOnBroker onBroker;

  AsyncMethodContract(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final AtomicInteger begun = new AtomicInteger();

    /** The proxy has the field too, and not its value. */
    int begun() {
      return begun.get();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    CompletableFuture<String> future(Supplier<CompletableFuture<String>> work) {
      begun.incrementAndGet();
      return work.get();
    }

    @MutexGuarded(name = "first-${test.lock}")
    @MutexGuarded(name = "${test.lock}")
    CompletionStage<String> stage(Supplier<CompletionStage<String>> work) {
      begun.incrementAndGet();
      return work.get();
    }

    @MutexGuarded(name = "keyed-${test.lock}", key = "#key")
    CompletableFuture<@Nullable String> keyed(@Nullable String key) {
      begun.incrementAndGet();
      return CompletableFuture.completedFuture(key);
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    Mono<String> mono(Supplier<Mono<String>> work) {
      begun.incrementAndGet();
      return work.get();
    }

    @MutexGuarded(name = "first-${test.lock}")
    @MutexGuarded(name = "${test.lock}")
    Flux<String> flux(Supplier<Flux<String>> work) {
      begun.incrementAndGet();
      return work.get();
    }
  }

  void run(BiConsumer<Work, AmqpLocks> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              test.accept(context.getBean(Work.class), locks);
              await().atMost(LONG).until(() -> locks.status().held() == 0);
              assertThat(locks.status().waiting()).isZero();
            });
  }

  static void awaitHeld(AmqpLocks locks, int number) {
    await().atMost(LONG).until(() -> locks.status().held() == number);
  }
}
