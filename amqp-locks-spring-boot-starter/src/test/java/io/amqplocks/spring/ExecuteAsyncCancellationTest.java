package io.amqplocks.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.internal.async.AsyncExecution;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import reactor.core.publisher.Mono;

/** Callers that are done with their futures before the work is, in one way or another. */
@BrokerTest
class ExecuteAsyncCancellationTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  ExecuteAsyncCancellationTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  private @Nullable AmqpLocks locks;

  private int waiting() {
    return requireNonNull(locks).status().waiting();
  }

  private interface Check {
    void on(LockHandle lock) throws Exception;
  }

  private void withLock(Check check) {
    ContextConsumer<AssertableApplicationContext> consumer =
        context -> {
          locks = context.getBean(AmqpLocks.class);
          check.on(context.getBean(LockTemplate.class).semaphore(onBroker.name()));
        };
    onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphores." + onBroker.name() + ".slots=1")
        .run(consumer);
  }

  private static void isFree(LockHandle lock) {
    await().atMost(LONG).until(() -> lock.tryExecute(() -> {}));
  }

  @ParameterizedTest
  @EnumSource
  void whoeverGivesUpWhileWaitingLeavesTheLine(GivingUp how) {
    withLock(
        lock -> {
          AtomicInteger begun = new AtomicInteger();
          try (Lease lease = lock.acquire()) {
            CompletableFuture<Integer> waiting =
                lock.executeAsync(() -> CompletableFuture.completedFuture(begun.incrementAndGet()));
            await().atMost(LONG).until(() -> waiting() == 1);
            how.of(waiting);
            await().atMost(LONG).until(() -> waiting() == 0);
            assertThat(lease.state()).isEqualTo(LeaseState.HELD);
          }
          isFree(lock);
          assertThat(begun).hasValue(0);
        });
  }

  /** Ways of the caller to be done with its future. */
  enum GivingUp {
    CANCEL,
    TIMEOUT,
    COMPLETE;

    void of(CompletableFuture<Integer> future) {
      switch (this) {
        case CANCEL -> future.cancel(true);
        case TIMEOUT -> future.orTimeout(1, TimeUnit.MILLISECONDS);
        case COMPLETE -> future.complete(-1);
      }
    }
  }

  /** As if its caller had given up just when the lease came. */
  @Test
  void aLeaseUnderWhichNothingBeganIsNotKeptForItsMinimumTime() {
    withLock(
        lock -> {
          AsyncExecution none =
              new AsyncExecution(
                  lock.holdAtLeast(Duration.ofHours(1)).acquireAsync(), new AtomicBoolean());
          assertThat(none.lease().get(30, TimeUnit.SECONDS).state()).isEqualTo(LeaseState.HELD);
          none.close();
          isFree(lock);
        });
  }

  @Test
  void aLeaseUnderWhichWorkBeganIsKeptForItsMinimumTime() {
    withLock(
        lock -> {
          CompletableFuture<Integer> work =
              lock.holdAtLeast(Duration.ofHours(1))
                  .executeAsync(() -> CompletableFuture.completedFuture(1));
          assertThat(work.get(30, TimeUnit.SECONDS)).isEqualTo(1);
          assertThat(lock.tryExecute(() -> {})).isFalse();
        });
  }

  @ParameterizedTest
  @EnumSource
  void aStageWhoseCancelEndsItsWorkIsCancelled(GivingUp how) {
    withLock(
        lock -> {
          AtomicInteger begun = new AtomicInteger();
          AtomicInteger ended = new AtomicInteger();
          CompletableFuture<Integer> result =
              lock.executeAsync(
                  () ->
                      Mono.<Integer>never()
                          .doOnSubscribe(subscription -> begun.incrementAndGet())
                          .doOnCancel(ended::incrementAndGet)
                          .toFuture());
          await().atMost(LONG).until(() -> begun.get() == 1);
          how.of(result);
          await().atMost(LONG).until(() -> ended.get() == 1);
          isFree(lock);
        });
  }

  @ParameterizedTest
  @EnumSource
  void workThatGoesOnAfterACancellationKeepsTheLock(GivingUp how) {
    withLock(
        lock -> {
          OverlappingWork work = new OverlappingWork();
          CompletableFuture<Integer> first =
              lock.executeAsync(() -> CompletableFuture.supplyAsync(work::untilToldSo));
          await().atMost(LONG).until(() -> work.running() == 1);
          how.of(first);
          CompletableFuture<Integer> second =
              lock.executeAsync(() -> CompletableFuture.supplyAsync(work::run));
          await().atMost(LONG).until(() -> waiting() == 1);
          assertThat(lock.tryAcquire()).isEmpty();
          work.tell();
          assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(1);
          isFree(lock);
        });
  }

  @Test
  void workThatCannotBeCancelledKeepsTheLockUntilItsEnd() {
    withLock(
        lock -> {
          CompletableFuture<String> working = new CompletableFuture<>();
          AtomicInteger begun = new AtomicInteger();
          CompletableFuture<String> result =
              lock.executeAsync(
                  () -> {
                    begun.incrementAndGet();
                    return working.minimalCompletionStage();
                  });
          await().atMost(LONG).until(() -> begun.get() == 1);
          result.cancel(true);
          assertThat(lock.tryAcquire()).isEmpty();
          working.complete("too late");
          isFree(lock);
        });
  }

  /** Its caller gives up after the work has begun and before there is a stage to cancel. */
  @ParameterizedTest
  @EnumSource
  void aStageThatThrowsWhenItIsCancelledKeepsNothing(Uncancellable stage) {
    withLock(
        lock -> {
          CountDownLatch begun = new CountDownLatch(1);
          CountDownLatch left = new CountDownLatch(1);
          CompletableFuture<String> result =
              lock.executeAsync(
                  () -> {
                    begun.countDown();
                    await().atMost(LONG).until(() -> left.getCount() == 0);
                    return stage.stage();
                  });
          assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
          assertThat(result.cancel(true)).isTrue();
          left.countDown();
          isFree(lock);
        });
  }

  /** Stages that are complete, and throw when they are cancelled or asked for their end. */
  enum Uncancellable {
    MINIMAL {
      @Override
      CompletionStage<String> stage() {
        return CompletableFuture.completedStage("x");
      }
    },
    MINIMAL_FAILED {
      @Override
      CompletionStage<String> stage() {
        return CompletableFuture.failedStage(new IllegalStateException("says the test"));
      }
    },
    WITHOUT_END {
      @Override
      CompletionStage<String> stage() {
        return new CompletableFuture<>() {
          @Override
          public CompletableFuture<String> whenComplete(
              BiConsumer<? super String, ? super Throwable> action) {
            throw new UnsupportedOperationException("says the test");
          }
        };
      }
    };

    abstract CompletionStage<String> stage();
  }

  @Test
  void cancellingAtAnyMomentLeavesNothingHeld() {
    withLock(
        lock -> {
          for (int round = 0; round < 100; round++) {
            CompletableFuture<String> result =
                lock.executeAsync(() -> Mono.<String>never().toFuture());
            long end = System.nanoTime() + round * 20_000L;
            while (System.nanoTime() < end) {
              Thread.onSpinWait();
            }
            result.cancel(true);
          }
          isFree(lock);
        });
  }
}
