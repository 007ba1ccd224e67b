package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.web.LockExceptionAdvice;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers of Spring MVC and WebFlux for locks that are busy and brokers that are away. */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnWebApplication
@ConditionalOnClass(RestControllerAdvice.class)
@ConditionalOnBean(AmqpLocks.class)
@ConditionalOnBooleanProperty(name = "amqp-locks.web.problem-details", matchIfMissing = true)
@EnableConfigurationProperties(AmqpLocksWebProperties.class)
public final class AmqpLocksWebAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LockExceptionAdvice amqpLocksExceptionAdvice(AmqpLocksWebProperties properties) {
    return new LockExceptionAdvice(properties.retryAfter());
  }
}
