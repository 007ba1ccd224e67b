package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.shedlock.AmqpLockProvider;
import io.amqplocks.spring.BrokerSettings;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * ShedLock's provider of locks, if the application has the module amqp-locks-shedlock, ShedLock,
 * and no provider of its own. It uses the broker, the addresses and the queue prefix of the locks.
 * There is none for locks in memory, because {@code lockAtLeastFor} is kept by a broker.
 */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@ConditionalOnClass({AmqpLockProvider.class, LockProvider.class})
@ConditionalOnBean({AmqpLocks.class, BrokerSettings.class})
public final class AmqpLockProviderAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(LockProvider.class)
  AmqpLockProvider amqpLockProvider(
      AmqpLocks locks, BrokerSettings broker, AmqpLocksProperties properties) {
    return new AmqpLockProvider(
        locks, broker.factory(), broker.addresses(), properties.queuePrefix());
  }
}
