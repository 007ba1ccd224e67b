package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.endpoint.AmqpLocksEndpoint;
import io.amqplocks.spring.internal.endpoint.BrokerQueries;
import java.time.InstantSource;
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
  BrokerQueries amqpLocksBrokerQueries(AmqpLocks locks, AmqpLocksEndpointProperties properties) {
    return BrokerQueries.about(locks, properties.timeout());
  }

  @Bean
  @ConditionalOnMissingBean
  AmqpLocksEndpoint amqpLocksEndpoint(
      AmqpLocks locks,
      LockCatalog catalog,
      BrokerQueries queries,
      AmqpLocksEndpointProperties properties) {
    return new AmqpLocksEndpoint(
        locks,
        catalog,
        queries,
        new AmqpLocksEndpoint.Shown(properties.showValues(), properties.roles()),
        InstantSource.system());
  }
}
