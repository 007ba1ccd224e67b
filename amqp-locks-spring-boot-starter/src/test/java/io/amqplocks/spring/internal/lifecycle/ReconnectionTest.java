package io.amqplocks.spring.internal.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** An application that has nothing to do says the truth about its session all the same. */
@BrokerTest(ownBroker = true)
@Isolated
@ExtendWith(OutputCaptureExtension.class)
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
        .withPropertyValues("amqp-locks.semaphores." + images + ".slots=3")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(registry.get("amqp.locks.session").gauge().value()).isZero();
              broker.faults().start();
              await()
                  .atMost(LONG)
                  .until(() -> registry.get("amqp.locks.session").gauge().value() == 1);
              // Who asks for a queue that is just being made may lose the connection, or be
              // answered too late.
              await()
                  .atMost(LONG)
                  .ignoreExceptionsMatching(e -> e instanceof LockException f && f.isOutage())
                  .until(() -> onBroker.tokens() == 3);
            });
  }

  static class Reports {
    @MutexGuarded(name = "report")
    void write() {}
  }

  static class Images {
    @SemaphoreGuarded(name = "images", key = "#customer", slots = 2)
    void draw(String customer) {}
  }

  /** None of these locks is created at the start, so nothing else asks for the broker. */
  @ParameterizedTest
  @ValueSource(classes = {Reports.class, Images.class})
  void aBrokerThatIsAwayAtTheStartIsSaidOnce(Class<?> work, CapturedOutput output) {
    broker.faults().kill();
    try {
      onBroker
          .application()
          .withBean(work)
          .run(
              context -> {
                assertThat(context).hasNotFailed();
                await().atMost(LONG).until(() -> !warnings(output).isEmpty());
                await().during(Duration.ofSeconds(6)).until(() -> warnings(output).size() == 1);
                broker.faults().start();
                AmqpLocks locks = context.getBean(AmqpLocks.class);
                await().atMost(LONG).until(() -> locks.status().session() == Session.OPEN);
              });
    } finally {
      broker.faults().start();
    }
    assertThat(warnings(output))
        .singleElement()
        .asString()
        .contains("No connection to RabbitMQ", "check that it runs");
  }

  private static List<String> warnings(CapturedOutput output) {
    return output.getOut().lines().filter(line -> line.contains(" WARN ")).toList();
  }

  /** It names no lock, so nothing asks for the broker before its first call. */
  @Test
  void anApplicationWhoseFirstCallMetAnOutageIsConnectedWhenItsBrokerComes() {
    broker.faults().kill();
    try {
      onBroker
          .application()
          .run(
              context -> {
                LockTemplate locks = context.getBean(LockTemplate.class);
                assertThatThrownBy(() -> locks.mutex("m").failFast().acquire())
                    .isInstanceOf(LockException.Unreachable.class);
                broker.faults().start();
                MeterRegistry registry = context.getBean(MeterRegistry.class);
                await()
                    .atMost(LONG)
                    .until(() -> registry.get("amqp.locks.session").gauge().value() == 1);
              });
    } finally {
      broker.faults().start();
    }
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
