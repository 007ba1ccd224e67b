package io.amqplocks.spring;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksHealthContributorAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksMetricsAutoConfiguration;
import io.amqplocks.test.Broker;
import java.util.UUID;
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

  /** An application on that broker. */
  public static ApplicationContextRunner on(Broker broker) {
    ConnectionFactory settings = broker.connectionFactory();
    return withoutBroker()
        .withPropertyValues(
            "spring.rabbitmq.host=" + broker.host(),
            "spring.rabbitmq.port=" + broker.port(),
            "spring.rabbitmq.username=" + settings.getUsername(),
            "spring.rabbitmq.password=" + settings.getPassword(),
            "spring.rabbitmq.virtual-host=" + settings.getVirtualHost(),
            "amqp-locks.default-wait=20s");
  }

  /** A name that no other test uses. */
  public static String uniqueName() {
    return "starter-" + UUID.randomUUID();
  }
}
