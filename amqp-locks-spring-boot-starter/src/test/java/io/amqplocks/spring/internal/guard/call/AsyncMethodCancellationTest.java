package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OverlappingWork;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Work that goes on, or waits for its locks, and is cancelled. */
@BrokerTest
class AsyncMethodCancellationTest extends AsyncMethodContract {

  AsyncMethodCancellationTest(Broker broker) {
    super(broker);
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
              // A released lease is no longer counted before the broker has it back.
              for (String each : List.of("first-" + onBroker.name(), onBroker.name())) {
                await().atMost(LONG).until(() -> template.mutex(each).tryExecute(() -> {}));
              }
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
            CompletableFuture<String> outer = work.future(() -> Mono.<String>never().toFuture());
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

  /** It has brought no publisher yet that could be cancelled. */
  @Test
  void aMethodThatIsUnderWayKeepsItsLocksWhenItsSubscriberLeaves() {
    run(
        (work, locks) -> {
          CountDownLatch begun = new CountDownLatch(1);
          CountDownLatch mayEnd = new CountDownLatch(1);
          AtomicInteger subscribed = new AtomicInteger();
          Disposable subscription =
              work.flux(
                      () -> {
                        begun.countDown();
                        await().atMost(LONG).until(() -> mayEnd.getCount() == 0);
                        return Flux.defer(() -> Flux.just("" + subscribed.incrementAndGet()));
                      })
                  .subscribe();
          try {
            await().atMost(LONG).until(() -> begun.getCount() == 0);
            subscription.dispose();
            await()
                .during(Duration.ofMillis(300))
                .atMost(LONG)
                .until(() -> locks.status().held() == 2);
          } finally {
            mayEnd.countDown();
          }
          awaitHeld(locks, 0);
          assertThat(subscribed).hasValue(0);
        });
  }

  /** Its locks are free afterwards, as of each call here. */
  @Test
  void aMethodMayThrowInsteadOfReturningAPublisher() {
    run(
        (work, locks) -> {
          Supplier<Flux<String>> throwing =
              () -> {
                throw new IllegalArgumentException("of the method");
              };
          assertThatExceptionOfType(IllegalArgumentException.class)
              .isThrownBy(() -> work.flux(throwing).collectList().block(LONG))
              .withMessage("of the method");
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

  @Test
  void cancellingAFutureCancelsItsWorkWhereThatEndsIt() {
    run(
        (work, locks) -> {
          AtomicInteger ended = new AtomicInteger();
          CompletableFuture<String> outer =
              work.future(() -> Mono.<String>never().doOnCancel(ended::incrementAndGet).toFuture());
          await().atMost(LONG).until(() -> work.begun() == 1);
          outer.orTimeout(1, TimeUnit.MILLISECONDS);
          await().atMost(LONG).until(() -> ended.get() == 1);
          awaitHeld(locks, 0);
        });
  }

  @Test
  void elseTheLocksAreHeldUntilTheWorkHasEnded() {
    run(
        (work, locks) -> {
          OverlappingWork body = new OverlappingWork();
          Supplier<CompletionStage<String>> slow =
              () -> CompletableFuture.supplyAsync(() -> "alone: " + body.untilToldSo());
          CompletionStage<String> first = work.stage(slow);
          await().atMost(LONG).until(() -> body.running() == 1);
          assertThat(first.toCompletableFuture().cancel(true)).isTrue();
          CompletionStage<String> second = work.stage(slow);
          await().atMost(LONG).until(() -> locks.status().waiting() == 1);
          assertThat(body.running()).isEqualTo(1);
          body.tell();
          assertThat(second.toCompletableFuture().join()).isEqualTo("alone: 1");
        });
  }
}
