package io.amqplocks.spring.internal.guard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A semaphore that nobody makes is found at startup. */
@BrokerTest
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class MissingSemaphoresTest {

  @AutoClose private final LocksOnBroker onBroker;

  MissingSemaphoresTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    @SemaphoreGuarded(name = "${test.lock}")
    void work() {}
  }

  static class KeyedWork {
    @SemaphoreGuarded(name = "${test.lock}", key = "#p0")
    void work(String key) {}
  }

  /** An administrator may create those of the keys, so it is no error. */
  @Test
  void thoseOfKeysWithoutSlotsAreAWarning(CapturedOutput output) {
    String slots = "amqp-locks.semaphores." + onBroker.name() + ".slots";
    String warning =
        KeyedWork.class.getName() + ".work() wants a semaphore for each key of token semaphore";
    onBroker
        .application()
        .withBean(KeyedWork.class)
        .withPropertyValues(slots + "=2")
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(output).doesNotContain(warning);
    onBroker
        .application()
        .withBean(KeyedWork.class)
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(output).contains(warning, "or by " + slots);
  }

  private ApplicationContextRunner application(String algorithm) {
    return onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphore-algorithm=" + algorithm)
        .withBean(Work.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tokens", "slots"})
  void unlessSomebodyGivesItSlots(String algorithm) {
    String slots = "amqp-locks.semaphores." + onBroker.name() + ".slots";
    application(algorithm)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining(Work.class.getName() + ".work() wants the")
                    .hasMessageContaining("'" + onBroker.name() + "', and there is none")
                    .hasMessageContaining(slots));
    application(algorithm)
        .withPropertyValues(slots + "=2")
        .run(context -> assertThat(context).hasNotFailed());
    // It exists now.
    application(algorithm).run(context -> assertThat(context).hasNotFailed());
  }

  @ParameterizedTest
  @ValueSource(strings = {"tokens", "slots"})
  void anApplicationStartsWithoutTheBroker(String algorithm) {
    application(algorithm)
        .withPropertyValues("spring.rabbitmq.port=1")
        .run(context -> assertThat(context).hasNotFailed());
  }
}
