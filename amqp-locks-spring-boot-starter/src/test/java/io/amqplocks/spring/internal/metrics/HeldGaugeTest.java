package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

@BrokerTest
class HeldGaugeTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;

  HeldGaugeTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
  }

  private ApplicationContextRunner application() {
    return onBroker
        .application()
        .withPropertyValues(
            "amqp-locks.mutexes." + name + ".wait=20s",
            "amqp-locks.semaphores." + name + ".slots=4");
  }

  private static double held(ApplicationContext context, String name, String type) {
    return context
        .getBean(MeterRegistry.class)
        .get("amqp.locks.held")
        .tags("amqp.locks.name", name, "amqp.locks.type", type)
        .gauge()
        .value();
  }

  /** As one does that writes to a slow disk. */
  private static final class SlowListener implements LockListener, AutoCloseable {
    private final CountDownLatch called = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @Override
    public void acquired(Lease lease, Duration waited) {
      called.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      goOn.countDown();
    }
  }

  @Test
  void aSlowListenerHidesNoLease() {
    application()
        .withBean(SlowListener.class)
        .run(
            context -> {
              SlowListener slow = context.getBean(SlowListener.class);
              LockTemplate locks = context.getBean(LockTemplate.class);
              locks.mutex("another").execute(() -> {});
              await().until(() -> slow.called.getCount() == 0);
              try (Lease unused = locks.mutex(name).acquire()) {
                assertThat(held(context, name, "mutex")).isEqualTo(1);
              }
              assertThat(held(context, name, "mutex")).isZero();
              slow.close();
            });
  }

  /** As many as the lease takes of the gauge of slots. */
  @Test
  void eachPermitCounts() {
    application()
        .run(
            context -> {
              LockTemplate locks = context.getBean(LockTemplate.class);
              Lease three = locks.semaphore(name).withPermits(3).acquire();
              Lease one = locks.semaphore(name).acquire();
              assertThat(held(context, name, "token semaphore")).isEqualTo(4);
              three.close();
              assertThat(held(context, name, "token semaphore")).isEqualTo(1);
              one.close();
              assertThat(held(context, name, "token semaphore")).isZero();
            });
  }

  @Test
  void aLockOfAKeyCountsByItsName() {
    application()
        .run(
            context -> {
              LockTemplate locks = context.getBean(LockTemplate.class);
              try (Lease unused = locks.mutex(name + ":1").acquire();
                  Lease unusedToo = locks.mutex(name + ":2").acquire()) {
                assertThat(held(context, name, "mutex")).isEqualTo(2);
              }
            });
  }

  @Test
  void aLockThatIsNamedWhileItIsHeld() {
    onBroker
        .application()
        .run(
            context -> {
              try (Lease unused = context.getBean(LockTemplate.class).mutex(name).acquire()) {
                assertThat(held(context, MetricNames.OTHER, "mutex")).isEqualTo(1);
                LockCatalog catalog = context.getBean(LockCatalog.class);
                FamilyId mutex = FamilyId.mutex(name);
                catalog.add(LockSettings.annotated(mutex, "a method of a late bean"));
                catalog.resolve(mutex);
                assertThat(held(context, MetricNames.OTHER, "mutex")).isZero();
                assertThat(held(context, name, "mutex")).isEqualTo(1);
              }
              assertThat(held(context, name, "mutex")).isZero();
            });
  }
}
