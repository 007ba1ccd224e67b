package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.Workers;
import io.amqplocks.test.Broker;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What a guarded method does, whatever the algorithm of its semaphore. */
@ResourceLock("the counters of Uploads")
abstract class GuardedMethodContract {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final ApplicationContextRunner application;

  GuardedMethodContract(Broker broker, String algorithm) {
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker
            .application()
            .withPropertyValues("amqp-locks.semaphore-algorithm=" + algorithm)
            .withBean(Uploads.class);
  }

  @BeforeEach
  void countAnew() {
    Uploads.done.set(0);
    Uploads.most.set(0);
    Uploads.threeAtOnce = new CountDownLatch(3);
  }

  static class Uploads {

    private static final AtomicInteger running = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();
    private static final AtomicInteger done = new AtomicInteger();
    private static volatile CountDownLatch threeAtOnce = new CountDownLatch(3);

    @SemaphoreGuarded(name = "${test.lock}", slots = 3)
    void upload() throws InterruptedException {
      most.accumulateAndGet(running.incrementAndGet(), Math::max);
      threeAtOnce.countDown();
      assertThat(threeAtOnce.await(60, TimeUnit.SECONDS)).isTrue();
      LockSupport.parkNanos(1_000_000);
      done.incrementAndGet();
      running.decrementAndGet();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 3)
    String call(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "${test.little:20s}")
    String alone(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}")
    @SemaphoreGuarded(name = "${test.lock}", maxWait = "100ms")
    String both(Callable<String> work) throws Exception {
      return work.call();
    }
  }

  /** A token goes back by a message that nobody waits for. */
  private void nothingIsInUse() {
    onBroker.awaitInUse(0);
  }

  private String oneIsInUse() {
    onBroker.awaitInUse(1);
    return "in use";
  }

  private boolean mutexIsHeld() {
    return onBroker.isMutexHeld();
  }

  @Test
  void neverMoreThanTheSlotsInTwoApplications() {
    application.run(
        first ->
            application.run(
                second -> {
                  List<Callable<String>> threads =
                      Stream.of(first, second)
                          .map(context -> context.getBean(Uploads.class))
                          .flatMap(
                              uploads ->
                                  IntStream.range(0, 8)
                                      .<Callable<String>>mapToObj(
                                          thread ->
                                              () -> {
                                                for (int i = 0; i < 10; i++) {
                                                  uploads.upload();
                                                }
                                                return "done";
                                              }))
                          .toList();
                  Workers.run(threads);
                  assertThat(Uploads.done).hasValue(160);
                  assertThat(Uploads.most).hasValue(3);
                  nothingIsInUse();
                }));
  }

  @Test
  void holdsWhileItRunsAndReleasesAtReturn() {
    application.run(
        context -> {
          Uploads uploads = context.getBean(Uploads.class);
          assertThat(uploads.call(this::oneIsInUse)).isEqualTo("in use");
          nothingIsInUse();
          assertThat(uploads.alone(() -> "held: " + mutexIsHeld())).isEqualTo("held: true");
          // A release is not confirmed.
          await().until(() -> !mutexIsHeld());
        });
  }

  @Test
  void releasesWhenTheMethodThrows() {
    application.run(
        context -> {
          Exception own = new Exception("from the work");
          assertThatExceptionOfType(Exception.class)
              .isThrownBy(
                  () ->
                      context
                          .getBean(Uploads.class)
                          .call(
                              () -> {
                                throw own;
                              }))
              .isSameAs(own);
          nothingIsInUse();
        });
  }

  @Test
  void aBusyLockTimesOutAndTheMethodDoesNotRun() {
    AtomicInteger ran = new AtomicInteger();
    application
        .withPropertyValues("test.little=200ms")
        .run(
            context -> {
              try (Lease other = context.getBean(LockTemplate.class).mutex(name).acquire()) {
                assertThatExceptionOfType(LockException.AcquireTimeout.class)
                    .isThrownBy(
                        () ->
                            context
                                .getBean(Uploads.class)
                                .alone(() -> "run " + ran.incrementAndGet()))
                    .withMessageContaining(other.lock().toString());
              }
              assertThat(ran).hasValue(0);
            });
  }

  @Test
  void twoLocksAtOnce() {
    application.run(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Uploads uploads = context.getBean(Uploads.class);
          assertThat(uploads.both(() -> "held: " + locks.status().held())).isEqualTo("held: 2");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aLockThatCannotBeHadReleasesTheOneBefore() {
    application.run(
        context -> {
          LockTemplate template = context.getBean(LockTemplate.class);
          List<Lease> all =
              IntStream.range(0, 3).mapToObj(i -> template.semaphore(name).acquire()).toList();
          assertThatExceptionOfType(LockException.AcquireTimeout.class)
              .isThrownBy(() -> context.getBean(Uploads.class).both(() -> "not reached"))
              .withMessageContaining("semaphore '" + name + "'");
          // A release is not confirmed.
          await().until(() -> !mutexIsHeld());
          all.forEach(Lease::close);
          nothingIsInUse();
        });
  }
}
