package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.endpoint.AmqpLocksEndpoint;
import io.amqplocks.spring.endpoint.BrokerQuestions;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The endpoint {@code amqplocks}, where it is exposed. */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@ConditionalOnClass({WebEndpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean({AmqpLocks.class, LockCatalog.class})
@ConditionalOnAvailableEndpoint(AmqpLocksEndpoint.class)
@EnableConfigurationProperties(AmqpLocksEndpointProperties.class)
public final class AmqpLocksEndpointAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  BrokerQuestions amqpLocksBrokerQuestions(
      AmqpLocks locks, AmqpLocksEndpointProperties properties) {
    return BrokerQuestions.to(locks.admin(), properties.timeout());
  }

  @Bean
  @ConditionalOnMissingBean
  AmqpLocksEndpoint amqpLocksEndpoint(
      AmqpLocks locks,
      LockCatalog catalog,
      BrokerQuestions questions,
      AmqpLocksEndpointProperties properties) {
    return new AmqpLocksEndpoint(
        locks,
        catalog,
        questions,
        new AmqpLocksEndpoint.Shown(properties.showValues(), properties.roles()));
  }
}
