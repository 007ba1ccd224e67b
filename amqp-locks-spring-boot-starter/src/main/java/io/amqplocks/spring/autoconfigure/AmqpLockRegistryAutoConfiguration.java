package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.integration.AmqpLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.StringUtils;

/**
 * Spring Integration's registry of locks, if the application has the module
 * amqp-locks-spring-integration, Spring Integration 7, and no registry of its own.
 */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass(
    value = {AmqpLockRegistry.class, LockRegistry.class},
    // Spring Integration 6 has none, and the registry needs it.
    name = "org.springframework.integration.support.locks.DistributedLock")
@ConditionalOnBean(AmqpLocks.class)
@EnableConfigurationProperties(AmqpLockRegistryProperties.class)
public final class AmqpLockRegistryAutoConfiguration {

  private static final String PREFIX = "amqp-locks.lock-registry";
  private static final String KEY = PREFIX + ".key";
  private static final String APPLICATION = "spring.application.name";

  @Bean
  @ConditionalOnMissingBean(LockRegistry.class)
  @Conditional(OnKey.class)
  AmqpLockRegistry amqpLockRegistry(
      AmqpLocks locks, AmqpLockRegistryProperties properties, Environment environment) {
    String key = key(environment);
    if (key == null) {
      // The condition was evaluated ahead of time, where there was a name.
      throw new LockConfigurationException(
          "The registry of locks has no key: neither %s nor %s is set.".formatted(KEY, APPLICATION),
          "Set one of them where the application runs.");
    }
    try {
      return new AmqpLockRegistry(
          properties.fenced() ? locks::fencedMutex : locks::mutex, key, properties.longestWait());
    } catch (LockException.Invalid e) {
      throw new LockConfigurationException(
          "There can be no registry of locks with the key '%s': %s".formatted(key, e.getMessage()),
          "Set %s, which is %s if it is not set, and %s.longest-wait."
              .formatted(KEY, APPLICATION, PREFIX),
          e);
    }
  }

  private static @Nullable String key(Environment environment) {
    String key = environment.getProperty(KEY);
    return StringUtils.hasText(key) ? key : environment.getProperty(APPLICATION);
  }

  /**
   * Whether the locks have a common name. A constant would not do: applications that know nothing
   * of each other would share locks.
   */
  static final class OnKey extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      String key = key(context.getEnvironment());
      ConditionMessage.Builder message = ConditionMessage.forCondition("AMQP lock registry");
      return StringUtils.hasText(key)
          ? ConditionOutcome.match(message.because("the key is " + key))
          : ConditionOutcome.noMatch(
              message.because("neither %s nor %s is set".formatted(KEY, APPLICATION)));
    }
  }
}
