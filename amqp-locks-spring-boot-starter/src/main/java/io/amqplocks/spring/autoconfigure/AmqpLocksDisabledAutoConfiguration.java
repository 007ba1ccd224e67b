package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.health.LocksOffHealthIndicator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Locks switched off, as for a test or on a developer's machine: annotated methods just run, and so
 * does all work of the {@link LockTemplate} and of named locks, which stay injectable. No connection
 * is opened, and an application needs no RabbitMQ. There is no {@code AmqpLocks} bean then, and a
 * lease or fencing token that a method is to be given stays what the caller passes, null as a rule.
 */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "amqp-locks.enabled", havingValue = false)
@Import(NamedLocksRegistrar.class)
public final class AmqpLocksDisabledAutoConfiguration {

  private static final Logger log =
      LoggerFactory.getLogger(AmqpLocksDisabledAutoConfiguration.class);

  @Bean
  @ConditionalOnMissingBean
  LockTemplate lockTemplate() {
    log.warn(
        "amqp-locks.enabled is false: annotated methods and the LockTemplate run without any lock");
    return LockTemplate.withoutLocks();
  }

  /** Says so where health is asked. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("amqplocks")
  static class Health {

    @Bean
    @ConditionalOnMissingBean(name = {"amqplocksHealthIndicator", "amqplocksHealthContributor"})
    LocksOffHealthIndicator amqplocksHealthIndicator() {
      return new LocksOffHealthIndicator();
    }
  }
}
