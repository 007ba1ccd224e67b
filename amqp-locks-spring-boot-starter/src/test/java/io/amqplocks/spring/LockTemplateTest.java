package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class LockTemplateTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;

  LockTemplateTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
  }

  private interface Use {
    void of(LockTemplate locks) throws Throwable;
  }

  private void with(Use use) {
    onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphores." + name + ".slots=2")
        .run(context -> use.of(context.getBean(LockTemplate.class)));
  }

  @Test
  void executesUnderTheLock() {
    onBroker
        .application()
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              LockHandle mutex = context.getBean(LockTemplate.class).mutex(name);
              assertThat(mutex.execute(() -> locks.status().held())).isEqualTo(1);
              AtomicInteger held = new AtomicInteger();
              mutex.execute(() -> held.set(locks.status().held()));
              assertThat(held).hasValue(1);
              assertThat(locks.status().held()).isZero();
            });
  }

  @Test
  void exceptionsComeThroughAndReleaseTheLock() {
    with(
        locks -> {
          assertThatExceptionOfType(IOException.class)
              .isThrownBy(
                  () ->
                      locks
                          .mutex(name)
                          .execute(
                              () -> {
                                throw new IOException("from the work");
                              }));
          assertThat(locks.mutex(name).tryExecute(() -> {})).isTrue();
        });
  }

  @Test
  void triesWithoutWaiting() {
    with(
        locks -> {
          try (Lease other = locks.mutex(name).acquire()) {
            assertThat(other.state()).isEqualTo(LeaseState.HELD);
            assertThat(locks.mutex(name).tryExecute(() -> {})).isFalse();
            Attempt<String> busy = locks.mutex(name).tryExecute(() -> "done");
            assertThat(busy.executed()).isFalse();
            assertThat(busy.orElse("busy")).isEqualTo("busy");
            assertThat(busy.orElseGet(() -> "busy")).isEqualTo("busy");
            assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> busy.orElseThrow(IllegalStateException::new));
          }
          Attempt<String> done = locks.mutex(name).tryExecute(() -> "done");
          assertThat(done.executed()).isTrue();
          assertThat(done.orElse("busy")).isEqualTo("done");
          assertThat(done.orElseThrow(IllegalStateException::new)).isEqualTo("done");
          assertThat(done).hasToString("executed: done");
        });
  }

  @Test
  void timesOut() {
    with(
        locks -> {
          LockHandle impatient = locks.mutex(name).waiting(Duration.ofMillis(100));
          try (Lease other = locks.mutex(name).acquire()) {
            assertThat(other.slot()).isEqualTo(1);
            assertThatExceptionOfType(LockException.AcquireTimeout.class)
                .isThrownBy(() -> impatient.execute(() -> {}));
          }
          impatient.waiting(Duration.ofSeconds(20)).execute(() -> {});
        });
  }

  @Test
  void anInterruptedWaitSetsTheFlagAgain() {
    with(
        locks -> {
          try (Lease other = locks.mutex(name).acquire()) {
            assertThat(other.slot()).isEqualTo(1);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(LockException.Interrupted.class)
                .isThrownBy(() -> locks.mutex(name).execute(() -> {}))
                .withMessageContaining("mutex '" + name + "'");
            assertThat(Thread.interrupted()).isTrue();
          }
        });
  }

  @Test
  void aSemaphoreHasItsSlots() {
    with(
        locks -> {
          try (Lease one = locks.semaphore(name).acquire();
              Lease two = locks.semaphore(name).acquire()) {
            assertThat(one.slot()).isNotEqualTo(two.slot());
            assertThat(locks.semaphore(name).tryAcquire()).isEmpty();
          }
        });
  }

  @Test
  void aSemaphoreThatNobodyKnows() {
    String unknown = name + "-x";
    String remedy = "set " + FamilyId.semaphore(unknown).property() + ".slots, and it is created";
    with(
        locks -> {
          LockHandle semaphore = locks.semaphore(unknown);
          assertThatExceptionOfType(LockException.NotFound.class)
              .isThrownBy(() -> semaphore.execute(() -> {}))
              .withMessageContaining(remedy)
              .satisfies(e -> assertThat(e.lock()).contains(semaphore.id()));
          assertThatExceptionOfType(LockException.NotFound.class)
              .isThrownBy(() -> locks.semaphore(unknown, "7").tryAcquire())
              .withMessageContaining(remedy);
          assertThat(semaphore.executeAsync(() -> CompletableFuture.completedFuture("")))
              .failsWithin(Duration.ofSeconds(30))
              .withThrowableOfType(ExecutionException.class)
              .withCauseInstanceOf(LockException.NotFound.class)
              .withMessageContaining(remedy);
        });
  }
}
