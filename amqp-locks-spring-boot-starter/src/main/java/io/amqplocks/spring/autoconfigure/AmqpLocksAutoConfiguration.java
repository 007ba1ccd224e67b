package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.lock.LockListener;
import io.amqplocks.spring.AmqpLocksCustomizer;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockResolver;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.lifecycle.FailedCalls;
import io.amqplocks.spring.internal.lifecycle.LeaseLostEventPublisher;
import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import io.amqplocks.spring.internal.lifecycle.Reconnection;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import io.amqplocks.spring.internal.template.CatalogResolver;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Distributed locks over connections of their own, to the broker that the application uses.
 *
 * <p>Every {@link LockListener} bean is notified of what happens to the locks. It must not depend
 * on them.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration",
      "org.springframework.boot.rabbitmq.autoconfigure.RabbitAutoConfiguration"
    })
@ConditionalOnClass(ConnectionFactory.class)
@Conditional(EnabledCondition.Enabled.class)
@EnableConfigurationProperties(AmqpLocksProperties.class)
@Import({
  RequiredBootVersion.class,
  RequiredMode.class,
  GuardConfiguration.class,
  LeaderConfiguration.class,
  NamedLocksRegistrar.class
})
public final class AmqpLocksAutoConfiguration {

  private static final Logger log = LoggerFactory.getLogger(AmqpLocksAutoConfiguration.class);

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean
  static RequiredUnits amqpLocksRequiredUnits() {
    return new RequiredUnits();
  }

  @Bean
  @ConditionalOnMissingBean
  LockCatalog amqpLocksCatalog(AmqpLocksProperties properties) {
    return properties.catalog();
  }

  @Bean
  @ConditionalOnMissingBean({AmqpLocks.class, BrokerSettings.class})
  BrokerSettings amqpLocksBrokerSettings(
      ListableBeanFactory beans, AmqpLocksProperties properties) {
    return ApplicationBrokerSettings.of(beans, properties.connectionFactory());
  }

  /** Before the locks themselves, whose bean ends the condition. */
  @Bean
  @ConditionalOnMissingBean({AmqpLocks.class, LocksAtBroker.class})
  LocksAtBroker amqpLocksAtBroker(BrokerSettings broker, AmqpLocksProperties properties) {
    return new LocksAtBroker(broker, properties.queuePrefix());
  }

  @Bean
  @ConditionalOnMissingBean
  AmqpLocks amqpLocks(
      BrokerSettings broker,
      AmqpLocksProperties properties,
      Environment environment,
      ObjectProvider<LockListener> listeners,
      LossLog losses,
      ObjectProvider<AmqpLocksCustomizer> customizers) {
    log.info(
        "The locks use RabbitMQ at {}, virtual host {}",
        broker.addresses(),
        broker.factory().getVirtualHost());
    AmqpLocksBuilder builder =
        AmqpLocks.builder(broker.factory())
            .addresses(broker.addresses())
            .heartbeat(properties.heartbeat())
            .queuePrefix(properties.queuePrefix());
    String name = properties.connectionName();
    if (!StringUtils.hasText(name)) {
      name = environment.getProperty("spring.application.name");
    }
    if (StringUtils.hasText(name)) {
      builder.connectionName(name);
    }
    if (properties.callTimeout() != null) {
      builder.callTimeout(properties.callTimeout());
    }
    if (properties.verifyEvery() != null) {
      builder.verifyEvery(properties.verifyEvery());
    }
    if (properties.certainFor() != null) {
      builder.certainFor(properties.certainFor());
    }
    listeners.orderedStream().forEach(builder::listener);
    losses.listens();
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder.build();
  }

  @Bean
  @ConditionalOnMissingBean
  SemaphoreSetup amqpLocksSemaphoreSetup(AmqpLocks locks, LockCatalog catalog) {
    return new SemaphoreSetup(locks, catalog);
  }

  @Bean
  @ConditionalOnMissingBean
  LockResolver amqpLocksResolver(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    return new CatalogResolver(locks, catalog, setup);
  }

  @Bean
  @ConditionalOnMissingBean(LockOperations.class)
  LockTemplate lockTemplate(LockResolver resolver) {
    return new LockTemplate(resolver);
  }

  @Bean
  @ConditionalOnMissingBean
  LeaseLostEventPublisher leaseLostEventPublisher(ApplicationEventPublisher events) {
    return new LeaseLostEventPublisher(events);
  }

  @Bean
  @ConditionalOnMissingBean
  FailedCalls amqpLocksFailedCalls() {
    return new FailedCalls();
  }

  @Bean
  @ConditionalOnMissingBean
  Reconnection amqpLocksReconnection(
      AmqpLocks locks, SemaphoreSetup setup, LockCatalog catalog, FailedCalls failed) {
    return new Reconnection(locks, setup, catalog, failed, Duration.ofSeconds(5));
  }

  @Bean
  @ConditionalOnMissingBean
  LossLog amqpLocksLossLog(LeaseLostEventPublisher events) {
    return new LossLog(events::lostUnnotified);
  }

  @Bean
  @ConditionalOnMissingBean
  LocksLifecycle amqpLocksLifecycle(
      AmqpLocks locks,
      SemaphoreSetup setup,
      ApplicationContext context,
      AmqpLocksProperties properties) {
    return new LocksLifecycle(locks, setup, context, properties.shutdownTimeout());
  }
}
