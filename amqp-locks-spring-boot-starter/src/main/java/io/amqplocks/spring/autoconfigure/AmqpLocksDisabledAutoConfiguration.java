package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockResolver;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.internal.health.DisabledHealthIndicator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Locks switched off, for example for a test or on a developer's machine. Annotated methods just
 * run, and so does all work of the {@link LockTemplate} and of named locks, which stay injectable.
 * No connection is opened, and the application needs no RabbitMQ. There is no {@code AmqpLocks}
 * bean. A parameter of a method for the lease or the fencing token keeps the argument of the
 * caller, usually null.
 */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@Conditional(EnabledCondition.Disabled.class)
@Import({RequiredBootVersion.class, NamedLocksRegistrar.class, WovenCallsPass.class})
public final class AmqpLocksDisabledAutoConfiguration {

  private static final Logger log =
      LoggerFactory.getLogger(AmqpLocksDisabledAutoConfiguration.class);

  /** Says so, also where beans are made only when they are needed. */
  static final class Notice {
    private Notice() {
      log.warn(
          "amqp-locks.enabled is false: annotated methods and the LockTemplate run without any lock");
    }
  }

  @Bean
  @Lazy(false)
  Notice amqpLocksDisabledNotice(Environment environment) {
    EnabledCondition.requireDisabled(environment);
    return new Notice();
  }

  @Bean
  @ConditionalOnMissingBean
  LockResolver amqpLocksResolver() {
    return LockResolver.withoutLocks();
  }

  @Bean
  @ConditionalOnMissingBean(LockOperations.class)
  LockTemplate lockTemplate(LockResolver resolver) {
    return new LockTemplate(resolver);
  }

  /** Reports it as health. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("amqplocks")
  static class Health {

    @Bean
    @ConditionalOnMissingBean(name = {"amqplocksHealthIndicator", "amqplocksHealthContributor"})
    DisabledHealthIndicator amqplocksHealthIndicator() {
      return new DisabledHealthIndicator();
    }
  }
}
