package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.shedlock.AmqpLockProvider;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** The registry of locks and the provider that an application has without declaring one. */
@SuppressWarnings("LockNotBeforeTry") // What locking and unlocking do is what is tested.
@BrokerTest
class BridgesTest {

  private static final String NAME = "spring.application.name=orders";

  @AutoClose private final LocksOnBroker onBroker;

  @AutoClose("shutdownNow")
  private final ExecutorService other = Executors.newCachedThreadPool();

  private final Broker broker;
  private final ApplicationContextRunner application;

  BridgesTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withConfiguration(
                AutoConfigurations.of(
                    AmqpLockProviderAutoConfiguration.class,
                    AmqpLockRegistryAutoConfiguration.class))
            .withPropertyValues(NAME);
  }

  /** As another thread would get it: the locks are reentrant. */
  private boolean elsewhere(Callable<Boolean> lock) throws Exception {
    return other.submit(lock).get(30, TimeUnit.SECONDS);
  }

  private static Lock lock(ApplicationContext context) {
    return context.getBean(LockRegistry.class).obtain("key");
  }

  @Test
  void applicationsOfOneNameShareTheLocksOfTheirRegistries() {
    application.run(
        one ->
            application.run(
                two -> {
                  lock(one).lock();
                  assertThat(onBroker.queues()).anyMatch(queue -> queue.contains("orders:key"));
                  assertThat(elsewhere(lock(two)::tryLock)).isFalse();
                  application
                      .withPropertyValues("amqp-locks.lock-registry.key=invoices")
                      .run(third -> assertThat(elsewhere(lock(third)::tryLock)).isTrue());
                  lock(one).unlock();
                  assertThat(lock(two).tryLock(20, TimeUnit.SECONDS)).isTrue();
                  lock(two).unlock();
                }));
  }

  @Test
  void theWaitOfLockIsBounded() {
    application
        .withPropertyValues("amqp-locks.lock-registry.longest-wait=100ms")
        .run(
            context -> {
              // The first call connects, which may take longer than that.
              assertThat(lock(context).tryLock(20, TimeUnit.SECONDS)).isTrue();
              assertThatThrownBy(
                      () ->
                          elsewhere(
                              () -> {
                                lock(context).lock();
                                return true;
                              }))
                  .hasCauseInstanceOf(LockException.AcquireTimeout.class);
              lock(context).unlock();
            });
  }

  @Test
  void theLocksAreFencedIfToldSo() {
    for (boolean fenced : new boolean[] {true, false}) {
      application
          .withPropertyValues("amqp-locks.lock-registry.fenced=" + fenced)
          .run(
              context -> {
                lock(context).lock();
                assertThat(context.getBean(AmqpLocks.class).leases())
                    .singleElement()
                    .satisfies(lease -> assertThat(lease.token().isPresent()).isEqualTo(fenced));
                lock(context).unlock();
              });
    }
  }

  private LockConfiguration job(Duration atLeast) {
    return new LockConfiguration(Instant.now(), onBroker.name(), Duration.ofMinutes(5), atLeast);
  }

  @Test
  void theProviderUsesThePrefixAndTheAddressesOfTheLocks() {
    try (TcpProxy dead = TcpProxy.to(broker)) {
      dead.refuse(true);
      application
          .withPropertyValues(
              "spring.rabbitmq.addresses=%s:%d,%s:%d"
                  .formatted(dead.host(), dead.port(), broker.host(), broker.port()))
          .run(
              context -> {
                LockProvider provider = context.getBean(LockProvider.class);
                SimpleLock lock = provider.lock(job(Duration.ofMinutes(1))).orElseThrow();
                lock.unlock();
                assertThat(onBroker.queues())
                    .anyMatch(queue -> queue.endsWith("shedlock." + onBroker.name()));
                assertThat(provider.lock(job(Duration.ZERO))).as("lockAtLeastFor").isEmpty();
              });
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableSchedulerLock(defaultLockAtMostFor = "5m")
  static class Scheduling {}

  static class Job {
    private final AtomicInteger runs = new AtomicInteger();

    @SchedulerLock(name = "${test.lock}")
    void run() {
      runs.incrementAndGet();
    }

    int runs() {
      return runs.get();
    }
  }

  @Test
  void shedLocksAnnotationsUseTheProvider() {
    application
        .withUserConfiguration(Scheduling.class)
        .withBean(Job.class)
        .run(
            context -> {
              Job job = context.getBean(Job.class);
              job.run();
              assertThat(job.runs()).isEqualTo(1);
              application.run(
                  busy -> {
                    SimpleLock held =
                        busy.getBean(LockProvider.class).lock(job(Duration.ZERO)).orElseThrow();
                    job.run();
                    assertThat(job.runs()).as("while another has the lock").isEqualTo(1);
                    held.unlock();
                  });
              job.run();
              assertThat(job.runs()).isEqualTo(2);
            });
  }

  /** What MIGRATION tells users to write; {@code ReadmeTest} compares the two. */
  @Configuration(proxyBeanMethods = false)
  static class KeptAlive {
    @Bean
    KeepAliveLockProvider keepAlive(AmqpLockProvider provider) {
      // A timer of its own: a job that runs occupies a thread of that of @Scheduled. One thread for
      // each job that runs at once, because an extension waits for the broker.
      CustomizableThreadFactory threads = new CustomizableThreadFactory("keep-alive-");
      threads.setDaemon(true);
      return new KeepAliveLockProvider(provider, Executors.newScheduledThreadPool(4, threads));
    }
  }

  @Test
  void whatKeepsLocksAliveWrapsTheProvider() {
    application
        .withUserConfiguration(Scheduling.class, KeptAlive.class)
        .withBean(Job.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(AmqpLockProvider.class);
              LockProvider used = context.getBean(LockProvider.class);
              assertThat(used).isInstanceOf(KeepAliveLockProvider.class);
              SimpleLock held = used.lock(job(Duration.ZERO)).orElseThrow();
              application
                  .withUserConfiguration(Scheduling.class)
                  .withBean(Job.class)
                  .run(
                      other -> {
                        other.getBean(Job.class).run();
                        assertThat(other.getBean(Job.class).runs()).isZero();
                      });
              held.unlock();
              context.getBean(Job.class).run();
              assertThat(context.getBean(Job.class).runs()).isEqualTo(1);
            });
  }
}
