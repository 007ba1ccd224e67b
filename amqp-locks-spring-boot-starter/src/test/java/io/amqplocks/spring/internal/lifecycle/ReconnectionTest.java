package io.amqplocks.spring.internal.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** An application that has nothing to do says the truth about its session all the same. */
@BrokerTest(ownBroker = true)
class ReconnectionTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;

  ReconnectionTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  @Test
  void anIdleApplicationIsConnectedAgainWhenItsBrokerIsBack() {
    String images = onBroker.name();
    onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphores." + images + ".slots=1")
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              // Quorum tokens have a session of their own.
              context.getBean(LockTemplate.class).semaphore(images).execute(() -> {});
              context.getBean(LockTemplate.class).mutex("m").execute(() -> {});
              assertThat(registry.get("amqp.locks.session").gauge().value()).isEqualTo(1);

              broker.faults().kill();
              await()
                  .atMost(LONG)
                  .until(() -> registry.get("amqp.locks.session").gauge().value() == 0);
              broker.faults().start();
              await()
                  .atMost(LONG)
                  .until(() -> registry.get("amqp.locks.session").gauge().value() == 1);
              assertThat(locks.status().session()).isEqualTo(Session.OPEN);
            });
  }

  @Test
  void anApplicationThatStartedWithoutItsBrokerIsConnectedWhenItComes() {
    String images = onBroker.name();
    broker.faults().kill();
    onBroker
        .application()
        .withPropertyValues(
            "amqp-locks.semaphores." + images + ".slots=3", "amqp-locks.call-timeout=1s")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(registry.get("amqp.locks.session").gauge().value()).isZero();
              broker.faults().start();
              await()
                  .atMost(LONG)
                  .until(() -> registry.get("amqp.locks.session").gauge().value() == 1);
              await().atMost(LONG).until(() -> onBroker.tokens() == 3);
            });
  }

  @Test
  void nothingIsOpenedThatNobodyNeeded() {
    onBroker
        .application()
        .run(
            context ->
                await()
                    .during(Duration.ofSeconds(6))
                    .atMost(LONG)
                    .until(
                        () ->
                            context.getBean(AmqpLocks.class).status().session()
                                == Session.NOT_OPENED));
  }
}
