package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.shedlock.AmqpLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.Ordered;

/**
 * ShedLock's provider of locks, if the application has the module amqp-locks-shedlock, ShedLock,
 * and no provider of its own. It uses the broker, the addresses and the queue prefix of the locks,
 * as properties and {@code BrokerSettings} tell them. There is none for locks in memory, or of the
 * application's own, because {@code lockAtLeastFor} is kept by a broker, and nobody says by which.
 *
 * <p>A {@code KeepAliveLockProvider} of the application is none of its own: it needs another one to
 * wrap, and may be given this. Jobs then use the wrapper, since this is only a fallback.
 */
@AutoConfiguration(after = AmqpLocksAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass({AmqpLockProvider.class, LockProvider.class})
@ConditionalOnBean(LocksAtBroker.class)
public final class AmqpLockProviderAutoConfiguration {

  @Bean
  @Fallback
  @ConditionalOnMissingBean(value = LockProvider.class, ignored = KeepAliveLockProvider.class)
  AmqpLockProvider amqpLockProvider(AmqpLocks locks, LocksAtBroker where) {
    return new AmqpLockProvider(
        locks, where.broker().factory(), where.broker().addresses(), where.queuePrefix());
  }
}
