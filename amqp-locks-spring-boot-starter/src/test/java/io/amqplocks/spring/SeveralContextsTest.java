package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.AbstractRefreshableApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;

/** Several applications in one JVM, one that begins anew, and one on virtual threads. */
@BrokerTest
class SeveralContextsTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private final String name;
  private final ApplicationContextRunner application;

  SeveralContextsTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker.application().withPropertyValues("amqp-locks.semaphores." + name + ".slots=1");
  }

  private List<String> connectionsOf(String application) {
    return broker.faults().connections().stream().filter(c -> c.startsWith(application)).toList();
  }

  @Test
  void twoOfThemExcludeEachOtherAndEndOnTheirOwn() {
    application
        .withPropertyValues("spring.application.name=one-" + name)
        .run(
            one -> {
              LockTemplate locks = one.getBean(LockTemplate.class);
              application
                  .withPropertyValues("spring.application.name=two-" + name)
                  .run(
                      two -> {
                        LockTemplate others = two.getBean(LockTemplate.class);
                        try (Lease lease = others.semaphore(name).acquire()) {
                          assertThat(locks.semaphore(name).tryAcquire()).isEmpty();
                          assertThat(lease.lock().name().value()).isEqualTo(name);
                        }
                        assertThat(connectionsOf("one-" + name)).isNotEmpty();
                        assertThat(connectionsOf("two-" + name)).isNotEmpty();
                        Awaitility.await()
                            .until(() -> calls(two, "acquired") == 1 && calls(one, "busy") == 1);
                        assertThat(calls(one, "acquired")).isZero();
                        assertThat(calls(two, "busy")).isZero();
                      });
              Awaitility.await()
                  .untilAsserted(() -> assertThat(connectionsOf("two-" + name)).isEmpty());
              assertThat(locks.semaphore(name).tryExecute(() -> {})).isTrue();
            });
  }

  private long calls(ApplicationContext application, String outcome) {
    return application
        .getBean(MeterRegistry.class)
        .get("amqp.locks.acquire")
        .tags("amqp.locks.name", name, "amqp.locks.outcome", outcome)
        .timer()
        .count();
  }

  /** As applications on a servlet container of their own have, which can be refreshed. */
  static final class RefreshableContext extends AbstractRefreshableApplicationContext {
    @Override
    protected void loadBeanDefinitions(DefaultListableBeanFactory beans) {
      new AnnotatedBeanDefinitionReader(beans, getEnvironment()).register(Refreshable.class);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({RabbitAutoConfiguration.class, AmqpLocksAutoConfiguration.class})
  static class Refreshable {}

  @Test
  void aRefreshedContextHasNewLocksAndTheOldOnesAreClosed() {
    try (var context = new RefreshableContext()) {
      TestPropertyValues.of(onBroker.properties()).applyTo(context.getEnvironment());
      context.refresh();
      AmqpLocks first = context.getBean(AmqpLocks.class);
      context.getBean(LockTemplate.class).mutex(name).acquire(); // never closed
      context.refresh();
      assertThat(first.status().session()).isEqualTo(Session.CLOSED);
      assertThat(context.getBean(LockTemplate.class).mutex(name).tryExecute(() -> {})).isTrue();
    }
  }

  static class Uploads {
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @SemaphoreGuarded(name = "${test.lock}")
    boolean upload() {
      most.accumulateAndGet(now.incrementAndGet(), Math::max);
      LockSupport.parkNanos(1_000_000);
      now.decrementAndGet();
      return Thread.currentThread().getClass().getSimpleName().contains("Virtual");
    }

    /** By a method: a proxy has no fields. */
    int most() {
      return most.get();
    }
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void virtualThreads() {
    application
        .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
        .withPropertyValues("spring.threads.virtual.enabled=true")
        .withBean(Uploads.class)
        .run(
            context -> {
              Uploads uploads = context.getBean(Uploads.class);
              AsyncTaskExecutor executor = context.getBean(AsyncTaskExecutor.class);
              List<Future<Boolean>> running = new ArrayList<>();
              for (int i = 0; i < 50; i++) {
                running.add(executor.submit((Callable<Boolean>) uploads::upload));
              }
              for (Future<Boolean> each : running) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isTrue();
              }
              assertThat(uploads.most()).isOne();
            });
  }
}
