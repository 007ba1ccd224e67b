package io.amqplocks.spring;

import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksHealthContributorAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksMetricsAutoConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Application contexts with all that Boot would configure around the starter. */
public final class Contexts {

  private Contexts() {}

  /** An application whose broker nobody needs, unless a test goes and asks for it. */
  public static ApplicationContextRunner withoutBroker() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                AopAutoConfiguration.class,
                PropertyPlaceholderAutoConfiguration.class,
                RabbitAutoConfiguration.class,
                HealthContributorAutoConfiguration.class,
                HealthContributorRegistryAutoConfiguration.class,
                MetricsAutoConfiguration.class,
                CompositeMeterRegistryAutoConfiguration.class,
                SimpleMetricsExportAutoConfiguration.class,
                AmqpLocksAutoConfiguration.class,
                AmqpLocksHealthContributorAutoConfiguration.class,
                AmqpLocksMetricsAutoConfiguration.class));
  }
}
