package io.amqplocks.spring.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Locks of methods whose work goes on after they have returned: held until it ends. */
@BrokerTest
class LaterResultsTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  LaterResultsTest(Broker broker) {
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

  private void run(BiConsumer<Work, AmqpLocks> test) {
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

  private static void awaitHeld(AmqpLocks locks, int number) {
    await().atMost(LONG).until(() -> locks.status().held() == number);
  }

  @Test
  void aFutureHoldsUntilItCompletes() {
    run(
        (work, locks) -> {
          CompletableFuture<String> inner = new CompletableFuture<>();
          CompletableFuture<String> outer = work.future(() -> inner);
          awaitHeld(locks, 1);
          await().atMost(LONG).until(() -> work.begun() == 1);
          assertThat(outer).isNotDone();
          inner.complete("done");
          assertThat(outer.join()).isEqualTo("done");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aFutureThatFails() {
    run(
        (work, locks) -> {
          IllegalArgumentException own = new IllegalArgumentException("from the work");
          CompletionStage<String> outer = work.stage(() -> CompletableFuture.failedFuture(own));
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(() -> outer.toCompletableFuture().join())
              .havingCause()
              .isSameAs(own);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aMethodThatThrowsInsteadOfReturningAFuture() {
    run(
        (work, locks) -> {
          IllegalArgumentException own = new IllegalArgumentException("from the method");
          CompletableFuture<String> outer =
              work.future(
                  () -> {
                    throw own;
                  });
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(outer::join)
              .havingCause()
              .isSameAs(own);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void cancellingAFutureCancelsItsWork() {
    run(
        (work, locks) -> {
          CompletableFuture<String> inner = new CompletableFuture<>();
          CompletableFuture<String> outer = work.future(() -> inner);
          await().atMost(LONG).until(() -> work.begun() == 1);
          outer.cancel(true);
          await().atMost(LONG).until(inner::isCancelled);
          awaitHeld(locks, 0);
        });
  }

  /** With the lock held by somebody else, and both locks given back at the end. */
  private void whileBusy(BiConsumer<Work, AmqpLocks> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease other = template.mutex(onBroker.name()).acquire()) {
                test.accept(context.getBean(Work.class), locks);
                await().atMost(LONG).until(() -> locks.status().waiting() == 0);
                awaitHeld(locks, 1);
                assertThat(other.lossReason()).isEmpty();
              }
              assertThat(context.getBean(Work.class).begun()).isZero();
              template.mutex("first-" + onBroker.name()).tryAcquire().orElseThrow().close();
              template.mutex(onBroker.name()).tryAcquire().orElseThrow().close();
            });
  }

  @Test
  void cancellingAFutureThatWaitsEndsTheWaiting() {
    whileBusy(
        (work, locks) -> {
          CompletableFuture<String> outer =
              work.stage(() -> CompletableFuture.completedFuture("not reached"))
                  .toCompletableFuture();
          await().atMost(LONG).until(() -> locks.status().waiting() == 1);
          awaitHeld(locks, 2);
          outer.cancel(true);
          assertThatExceptionOfType(CancellationException.class).isThrownBy(outer::join);
        });
  }

  @Test
  void cancellingASubscriptionThatWaitsEndsTheWaiting() {
    whileBusy(
        (work, locks) -> {
          Disposable subscription = work.flux(() -> Flux.just("not reached")).subscribe();
          await().atMost(LONG).until(() -> locks.status().waiting() == 1);
          awaitHeld(locks, 2);
          subscription.dispose();
        });
  }

  @Test
  void cancelledAtAnyMomentNothingIsLeft() {
    run(
        (work, locks) -> {
          for (int i = 0; i < 40; i++) {
            CompletableFuture<String> outer = work.future(CompletableFuture::new);
            Disposable subscription = work.mono(Mono::never).subscribe();
            long until = System.nanoTime() + i * 250_000L;
            while (System.nanoTime() < until) {
              Thread.onSpinWait();
            }
            outer.cancel(true);
            subscription.dispose();
            await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(LONG)
                .until(() -> locks.status().held() + locks.status().waiting() == 0);
          }
        });
  }

  @Test
  void nothingHappensBeforeSomebodySubscribes() {
    run(
        (work, locks) -> {
          Mono<String> mono = work.mono(() -> Mono.just("done"));
          assertThat(locks.status().held()).isZero();
          assertThat(work.begun()).isZero();
          assertThat(mono.block(LONG)).isEqualTo("done");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void eachSubscriptionHasALeaseOfItsOwn() {
    run(
        (work, locks) -> {
          Sinks.One<String> end = Sinks.one();
          Mono<String> mono = work.mono(end::asMono);
          CompletableFuture<@Nullable String> one = mono.toFuture();
          CompletableFuture<@Nullable String> two = mono.toFuture();
          awaitHeld(locks, 2);
          CompletableFuture<@Nullable String> three = mono.toFuture();
          await().atMost(LONG).until(() -> locks.status().waiting() == 1);
          assertThat(work.begun()).isLessThanOrEqualTo(2);
          end.tryEmitValue("done");
          assertThat(one.join() + two.join() + three.join()).isEqualTo("donedonedone");
          assertThat(work.begun()).isEqualTo(3);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aFluxHoldsUntilItsEnd() {
    run(
        (work, locks) -> {
          assertThat(
                  work.flux(() -> Flux.range(0, 3).map(i -> i + ":" + locks.status().held()))
                      .collectList()
                      .block(LONG))
              .containsExactly("0:2", "1:2", "2:2");
          assertThat(locks.status().held()).isZero();
          assertThatExceptionOfType(IllegalArgumentException.class)
              .isThrownBy(
                  () ->
                      work.flux(() -> Flux.error(new IllegalArgumentException("from the work")))
                          .blockLast(LONG));
          assertThat(locks.status().held()).isZero();
          assertThat(work.flux(() -> Flux.just("a").concatWith(Flux.never())).blockFirst(LONG))
              .isEqualTo("a");
          awaitHeld(locks, 0);
        });
  }

  @Test
  void theSubscribingThreadIsNotBlocked() {
    whileBusy(
        (work, locks) -> {
          Scheduler loop = Schedulers.newSingle("event-loop");
          try {
            Disposable waiting = work.flux(Flux::never).subscribeOn(loop).subscribe();
            Disposable second = work.flux(Flux::never).subscribeOn(loop).subscribe();
            await().atMost(LONG).until(() -> locks.status().waiting() == 2);
            CompletableFuture<String> free = new CompletableFuture<>();
            loop.schedule(() -> free.complete("free"));
            assertThat(free.join()).isEqualTo("free");
            waiting.dispose();
            second.dispose();
          } finally {
            loop.dispose();
          }
        });
  }
}
