package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.spring.internal.leader.LeaderElections;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Health of the locks under the key {@code amqplocks}. */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean({AmqpLocks.class, LeaderElections.class})
@ConditionalOnEnabledHealthIndicator("amqplocks")
public final class AmqpLocksHealthContributorAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = {"amqplocksHealthIndicator", "amqplocksHealthContributor"})
  AmqpLocksHealthIndicator amqplocksHealthIndicator(AmqpLocks locks, LeaderElections elections) {
    return new AmqpLocksHealthIndicator(locks, elections);
  }
}
