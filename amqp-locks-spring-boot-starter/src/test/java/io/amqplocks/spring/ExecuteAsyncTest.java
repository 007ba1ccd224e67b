package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;

/** A lock is held until the stage of its work has ended, and given back however that ends. */
@BrokerTest
class ExecuteAsyncTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  ExecuteAsyncTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  private interface Check {
    void on(LockHandle lock) throws Exception;
  }

  private void withLock(Check check) {
    ContextConsumer<AssertableApplicationContext> consumer =
        context -> check.on(context.getBean(LockTemplate.class).semaphore(onBroker.name()));
    onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphores." + onBroker.name() + ".slots=1")
        .run(consumer);
  }

  /** A token goes back by a message that nobody waits for. */
  private static void isFree(LockHandle lock) {
    await().atMost(LONG).until(() -> lock.tryExecute(() -> {}));
  }

  @Test
  void heldUntilTheStageCompletesAndFreeWhenTheFutureDoes() {
    withLock(
        lock -> {
          CompletableFuture<String> stage = new CompletableFuture<>();
          AtomicInteger begun = new AtomicInteger();
          CompletableFuture<String> result =
              lock.executeAsync(
                  () -> {
                    begun.incrementAndGet();
                    return stage;
                  });
          await().atMost(LONG).until(() -> begun.get() == 1);
          assertThat(lock.tryAcquire()).isEmpty();
          assertThat(result).isNotDone();
          stage.complete("sent");
          assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("sent");
          isFree(lock);
        });
  }

  @Test
  void aFailedStageOrOneThatCannotBeginGivesTheLockBack() {
    withLock(
        lock -> {
          IllegalStateException failure = new IllegalStateException("no network");
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(lock.executeAsync(() -> CompletableFuture.failedFuture(failure))::join)
              .withCause(failure);
          isFree(lock);
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(
                  lock.executeAsync(
                          () -> {
                            throw failure;
                          })
                      ::join)
              .withCause(failure);
          isFree(lock);
        });
  }

  @Test
  void aBusyLockFailsTheFutureAndTheWorkDoesNotBegin() {
    withLock(
        lock -> {
          AtomicInteger begun = new AtomicInteger();
          try (Lease lease = lock.acquire()) {
            assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(
                    lock.waiting(Duration.ofMillis(100))
                            .executeAsync(
                                () -> {
                                  begun.incrementAndGet();
                                  return CompletableFuture.completedFuture(1);
                                })
                        ::join)
                .withCauseInstanceOf(LockException.AcquireTimeout.class);
            assertThat(lease.lock().name().value()).isEqualTo(onBroker.name());
          }
          assertThat(begun).hasValue(0);
          isFree(lock);
        });
  }

  @Test
  void whatIsWrongWithTheCallFailsTheFuture() {
    withLock(
        lock -> {
          CompletableFuture<Integer> failed =
              lock.waiting(Duration.ofSeconds(-1))
                  .executeAsync(() -> CompletableFuture.completedFuture(1));
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(failed::join)
              .withCauseInstanceOf(LockException.Invalid.class);
        });
  }

  @Test
  void theWorkRunsInTheContextOfTheCallersClassLoader() {
    withLock(
        lock -> {
          ClassLoader mine = new ClassLoader() {};
          Thread thread = Thread.currentThread();
          ClassLoader before = thread.getContextClassLoader();
          thread.setContextClassLoader(mine);
          try {
            assertThat(
                    lock.executeAsync(
                            () ->
                                CompletableFuture.completedFuture(
                                    Thread.currentThread().getContextClassLoader()))
                        .join())
                .isSameAs(mine);
          } finally {
            thread.setContextClassLoader(before);
          }
        });
  }
}
