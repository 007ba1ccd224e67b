package io.amqplocks.inmemory.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.inmemory.InMemoryLocks.Occupation;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LeaseLostEvent;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLockRegistryAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksHealthContributorAutoConfiguration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;
import org.springframework.integration.support.locks.LockRegistry;

/** No context has a connection factory, so nothing here could find a broker. */
class InMemoryLocksAutoConfigurationTest {

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  AopAutoConfiguration.class,
                  AmqpLocksAutoConfiguration.class,
                  AmqpLocksHealthContributorAutoConfiguration.class,
                  InMemoryLocksAutoConfiguration.class))
          .withBean(Images.class)
          .withBean(Losses.class);

  private final ApplicationContextRunner inMemory =
      runner.withPropertyValues("amqp-locks.mode=in-memory");

  static class Images {

    @SemaphoreGuarded(name = "images", slots = 5, maxWait = "0s")
    public <T> T resize(Supplier<T> work) {
      return work.get();
    }

    @MutexGuarded(name = "report", maxWait = "0s")
    public <T> T report(Supplier<T> work) {
      return work.get();
    }

    @MutexGuarded(name = "bill", onLost = OnLost.FAIL, holdAtLeast = "1ms")
    public <T> T bill(Function<Lease, T> work, @Nullable Lease lease) {
      return work.apply(Objects.requireNonNull(lease));
    }
  }

  static class Losses {
    final List<LossReason> all = new CopyOnWriteArrayList<>();

    @EventListener
    void lost(LeaseLostEvent event) {
      all.add(event.reason());
    }
  }

  @Test
  void annotatedMethodsHoldLocksInMemory() {
    inMemory.run(
        context -> {
          InMemoryLocks locks = context.getBean(InMemoryLocks.class);
          assertThat(context.getBean(AmqpLocks.class)).isSameAs(locks);
          Images images = context.getBean(Images.class);
          LockId semaphore = LockId.tokenSemaphore("images");
          Map<LockId, Integer> held = images.resize(() -> Map.of(semaphore, locks.leases().size()));
          assertThat(held).containsEntry(semaphore, 1);
          assertThat(locks.leases()).isEmpty();
          assertThat(locks.history()).hasSize(1);
        });
  }

  @Test
  void aTestMakesALockBusy() {
    inMemory.run(
        context -> {
          InMemoryLocks locks = context.getBean(InMemoryLocks.class);
          Images images = context.getBean(Images.class);
          try (var stranger = locks.busy(LockId.mutex("report"))) {
            assertThat(stranger).isNotNull();
            assertThatExceptionOfType(LockException.AcquireTimeout.class)
                .isThrownBy(() -> images.report(() -> "done"));
          }
          assertThat(images.report(() -> "done")).isEqualTo("done");
        });
  }

  @Test
  void aLossIsPublishedAsAnEvent() {
    inMemory.run(
        context -> {
          InMemoryLocks locks = context.getBean(InMemoryLocks.class);
          LossReason reason = new LossReason(LossReason.Cause.REVOKED, "by the test");
          try (Lease lease = context.getBean(LockOperations.class).mutex("report").acquire()) {
            locks.lose(lease, reason);
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
          }
          await()
              .untilAsserted(
                  () -> assertThat(context.getBean(Losses.class).all).containsExactly(reason));
        });
  }

  @Test
  void observersOfTheApplicationAreNotified() {
    List<LockId> begun = new CopyOnWriteArrayList<>();
    LockObserver observer =
        lock -> {
          begun.add(lock);
          return LockObserver.Attempt.NO_OP;
        };
    inMemory
        .withBean("observer", LockObserver.class, () -> observer)
        .run(
            context -> {
              assertThat(context.getBean(Images.class).report(() -> "done")).isEqualTo("done");
              assertThat(begun).containsExactly(LockId.mutex("report"));
            });
  }

  @Test
  void theLeaseOfAnAnnotatedMethodIsLostByItsLock() {
    inMemory.run(
        context -> {
          InMemoryLocks locks = context.getBean(InMemoryLocks.class);
          LossReason reason = new LossReason(LossReason.Cause.EXPIRED, "by the test");
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      context
                          .getBean(Images.class)
                          .bill(
                              lease -> {
                                assertThat(locks.lose(LockId.mutex("bill"), reason)).isOne();
                                return lease.state();
                              },
                              null))
              .withMessageContaining("EXPIRED (by the test)");
        });
  }

  @Test
  void healthFollowsTheLocksInMemory() {
    inMemory.run(
        context -> {
          HealthIndicator health = context.getBean(HealthIndicator.class);
          context.getBean(AmqpLocks.class).connect();
          assertThat(health.health(false)).extracting(Health::getStatus).isEqualTo(Status.UP);
          context.getBean(InMemoryLocks.class).unavailable();
          assertThat(health.health(false)).extracting(Health::getStatus).isNotEqualTo(Status.UP);
        });
  }

  @Test
  void withoutTheModeTheLocksAreAtABroker() {
    runner.run(context -> assertThat(context).hasFailed());
    runner
        .withPropertyValues("amqp-locks.mode=broker")
        .run(context -> assertThat(context).hasFailed());
  }

  @Test
  void anUnknownModeEndsTheStart() {
    runner
        .withPropertyValues("amqp-locks.mode=memory")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    // Boot's analysis of this one lists the modes.
                    .hasStackTraceContaining("Failed to bind properties under 'amqp-locks.mode'"));
  }

  @Test
  void locksOfTheApplicationGoFirst() {
    try (InMemoryLocks own = InMemoryLocks.create()) {
      inMemory
          .withBean("own", AmqpLocks.class, () -> own)
          .run(context -> assertThat(context).getBean(AmqpLocks.class).isSameAs(own));
    }
  }

  @Test
  void disabledLocksAreNotInMemoryEither() {
    inMemory
        .withPropertyValues("amqp-locks.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(AmqpLocks.class));
  }

  @Test
  void theRegistryOfSpringIntegrationHasLocksInMemory() {
    inMemory
        .withConfiguration(AutoConfigurations.of(AmqpLockRegistryAutoConfiguration.class))
        .withPropertyValues("spring.application.name=orders")
        .run(
            context -> {
              Lock lock = context.getBean(LockRegistry.class).obtain("key");
              InMemoryLocks locks = context.getBean(InMemoryLocks.class);
              try (Occupation other = locks.busy(LockId.mutex("orders:key"))) {
                assertThat(lock.tryLock()).as("while %s", other).isFalse();
              }
              assertThat(lock.tryLock()).isTrue();
              lock.unlock();
            });
  }
}
