package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.amqplocks.spring.LockConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The module with the locks in memory is not on the class path of these tests. */
class RequiredModeTest {

  @ParameterizedTest
  @ValueSource(strings = {"in-memory", "IN_MEMORY", "memory"})
  void locksInMemoryNeedTheirModule(String mode) {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(AmqpLocksAutoConfiguration.class))
        .withPropertyValues("amqp-locks.mode=" + mode)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("amqp-locks.mode is '" + mode + "'")
                    .hasMessageContaining("Add amqp-locks-in-memory to the dependencies"));
  }

  @Test
  void locksAtTheBrokerNeedNoOther() {
    assertThatCode(() -> RequiredMode.require("broker", false)).doesNotThrowAnyException();
    assertThatCode(() -> RequiredMode.require("BROKER", false)).doesNotThrowAnyException();
    assertThatCode(() -> RequiredMode.require("in-memory", true)).doesNotThrowAnyException();
  }
}
