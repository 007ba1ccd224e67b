package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** The starter works without what is optional on the class path. */
class OptionalDependenciesTest {

  /** An application without Actuator and metrics. */
  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  RabbitAutoConfiguration.class,
                  AmqpLocksAutoConfiguration.class,
                  AmqpLocksHealthContributorAutoConfiguration.class,
                  AmqpLocksMetricsAutoConfiguration.class));

  /** Without Actuator: its classes are read before they are loaded, as in an application. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    RabbitAutoConfiguration.class,
    AmqpLocksAutoConfiguration.class,
    AmqpLocksHealthContributorAutoConfiguration.class
  })
  static class Bare {}

  @Test
  void noActuator() {
    new ApplicationContextRunner()
        .withUserConfiguration(Bare.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(LockTemplate.class)
                    .doesNotHaveBean("amqplocksHealthIndicator"));
  }

  @Test
  void noMicrometer() {
    bare.withClassLoader(
            new FilteredClassLoader("io.micrometer", "org.springframework.boot.micrometer"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(LockTemplate.class)
                    .doesNotHaveBean("amqpLocksMeters"));
  }

  @Test
  void micrometerWithoutARegistry() {
    bare.run(
        context ->
            assertThat(context)
                .hasSingleBean(LockTemplate.class)
                .doesNotHaveBean(MeterRegistry.class)
                .doesNotHaveBean(LockMeters.class));
  }

  @Test
  void worksWhereBootsRabbitSettingsHaveMovedToAnotherPackage() {
    new ApplicationContextRunner()
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.amqp"))
        .withBean(CachingConnectionFactory.class, () -> new CachingConnectionFactory("somehost"))
        .withConfiguration(AutoConfigurations.of(AmqpLocksAutoConfiguration.class))
        .run(
            context ->
                assertThat(context.getBean(BrokerSettings.class).addresses())
                    .singleElement()
                    .hasToString("somehost:5672"));
  }
}
