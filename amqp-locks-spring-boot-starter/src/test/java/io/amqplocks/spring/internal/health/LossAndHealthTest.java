package io.amqplocks.spring.internal.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LeaseLostEvent;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;

@BrokerTest(everyLine = true, ownBroker = true)
class LossAndHealthTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final ApplicationContextRunner application;

  LossAndHealthTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application = onBroker.application().withBean(Losses.class);
  }

  static class Losses {
    private final List<LeaseLostEvent> events = new CopyOnWriteArrayList<>();

    @EventListener
    void on(LeaseLostEvent event) {
      events.add(event);
    }
  }

  @Test
  void aRevokedLeaseIsAnEvent() {
    application.run(
        context -> {
          Lease lease = context.getBean(LockTemplate.class).mutex(name).acquire();
          broker.faults().deleteQueue(onBroker.mutexQueue());
          List<LeaseLostEvent> events = context.getBean(Losses.class).events;
          await().until(() -> !events.isEmpty());
          assertThat(events)
              .singleElement()
              .satisfies(
                  event -> {
                    assertThat(event.lease()).isSameAs(lease);
                    assertThat(event.reason().cause()).isEqualTo(LossReason.Cause.REVOKED);
                  });
          assertThat(lease.state()).isEqualTo(LeaseState.LOST);
          await()
              .untilAsserted(
                  () ->
                      assertThat(
                              health(context.getBean(AmqpLocksHealthIndicator.class)).getDetails())
                          .extractingByKey("lastLoss")
                          .asString()
                          .contains(name));
        });
  }

  @Test
  void healthOpensTheSessionItself() {
    application.run(
        context -> {
          Health health = health(context.getBean(AmqpLocksHealthIndicator.class));
          assertThat(health.getStatus()).isEqualTo(Status.UP);
          assertThat(health.getDetails())
              .containsEntry("session", Session.OPEN)
              .containsEntry("blocked", false);
          assertThat(broker.faults().queues()).noneMatch(queue -> queue.name().contains("health"));
        });
  }

  @Test
  void contentionIsHealthy() {
    application.run(
        context -> {
          LockTemplate locks = context.getBean(LockTemplate.class);
          try (Lease lease = locks.mutex(name).acquire()) {
            assertThat(locks.mutex(name).tryAcquire()).isEmpty();
            Health health = health(context.getBean(AmqpLocksHealthIndicator.class));
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("held", 1);
            assertThat(lease.slot()).isEqualTo(1);
          }
        });
  }

  /** May be read while other tests log. */
  private static final class Log extends AppenderBase<ILoggingEvent> {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      // Notes the thread's name, which would be that of the reader later.
      event.prepareForDeferredProcessing();
      events.add(event);
    }
  }

  @Test
  void downWithoutABrokerAndUpAgainWithIt() {
    Log log = new Log();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(AmqpLocksHealthIndicator.class);
    logger.addAppender(log);
    application.run(
        context -> {
          AmqpLocksHealthIndicator indicator = context.getBean(AmqpLocksHealthIndicator.class);
          Lease lease = context.getBean(LockTemplate.class).mutex(name).acquire();
          assertThat(health(indicator).getStatus()).isEqualTo(Status.UP);

          broker.faults().kill();
          await().until(() -> lease.state() == LeaseState.LOST);
          await().until(() -> context.getBean(AmqpLocks.class).status().lastLoss().isPresent());
          Health down = health(indicator);
          assertThat(down.getStatus()).isEqualTo(Status.DOWN);
          assertThat(down.getDetails())
              .containsEntry("session", Session.ENDED)
              .containsKeys("error", "lastLoss")
              .extractingByKey("error")
              .asString()
              .contains("for the locks of this process: ");
          await().until(() -> !context.getBean(Losses.class).events.isEmpty());

          assertThat(health(indicator).getStatus()).isEqualTo(Status.DOWN);
          assertThat(log.events)
              .filteredOn(event -> event.getThreadName().equals(Thread.currentThread().getName()))
              .as("one line in an outage, without a stack trace")
              .singleElement()
              .satisfies(
                  event -> {
                    assertThat(event.getLevel()).isEqualTo(Level.WARN);
                    assertThat(event.getFormattedMessage())
                        .contains("DOWN until the broker can be reached", "LockException$Unre");
                    assertThat(event.getThrowableProxy()).isNull();
                  });

          broker.faults().start();
          await().until(() -> health(indicator).getStatus().equals(Status.UP));
          assertThat(context.getBean(AmqpLocks.class).status().session()).isEqualTo(Session.OPEN);
        });
    logger.detachAppender(log);
  }

  @Test
  void aBlockedSessionIsADetail() {
    application.run(
        context -> {
          AmqpLocksHealthIndicator indicator = context.getBean(AmqpLocksHealthIndicator.class);
          assertThat(health(indicator).getStatus()).isEqualTo(Status.UP);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          duringAnAlarm(
              () -> {
                // A connection is told that it is blocked when it next publishes.
                assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> locks.admin().slotSemaphore(name).count());
                await().until(() -> locks.status().blocked());
                assertBlockedAndUp(health(indicator));
              });
        });
  }

  @Test
  void aSessionThatBeginsDuringAnAlarmIsUp() {
    application.run(
        context -> {
          AmqpLocksHealthIndicator indicator = context.getBean(AmqpLocksHealthIndicator.class);
          duringAnAlarm(
              () -> {
                Health health = health(indicator);
                assertThat(health.getStatus()).isEqualTo(Status.UP);
                assertThat(health.getDetails()).containsEntry("session", Session.OPEN);
              });
        });
  }

  @Test
  void tokensAndMutexesAreHadDuringAnAlarm() {
    assertThat(
            onBroker.<Integer>administer(
                admin -> admin.tokenSemaphore(name).createIfAbsent(1, TokenQueueType.QUORUM)))
        .isEqualTo(1);
    application
        .withPropertyValues(
            "amqp-locks.semaphores." + name + ".slots=1",
            "amqp-locks.mutexes." + name + ".algorithm=tokens")
        .run(
            context -> {
              LockTemplate locks = context.getBean(LockTemplate.class);
              locks.mutex(name).execute(() -> {}); // the first one ever publishes
              duringAnAlarm(
                  () -> {
                    assertThat(locks.semaphore(name).tryExecute(() -> {})).isTrue();
                    assertThat(locks.mutex(name).tryExecute(() -> {})).isTrue();
                    assertThat(locks.mutex("plain").tryExecute(() -> {})).isTrue();
                  });
            });
  }

  private void duringAnAlarm(Runnable check) {
    broker.faults().memoryAlarm(true);
    try {
      check.run();
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }

  private static void assertBlockedAndUp(Health health) {
    assertThat(health.getStatus()).isEqualTo(Status.UP);
    assertThat(health.getDetails())
        .containsEntry("session", Session.OPEN)
        .containsEntry("blocked", true);
  }

  @Test
  void closedLocksAreOutOfService() {
    application.run(
        context -> {
          context.getBean(AmqpLocks.class).close();
          assertThat(health(context.getBean(AmqpLocksHealthIndicator.class)).getStatus())
              .isEqualTo(Status.OUT_OF_SERVICE);
        });
  }

  private static Health health(AmqpLocksHealthIndicator indicator) {
    Health health = indicator.health();
    assertThat(health).isNotNull();
    return health;
  }
}
