package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.AmqpLocksCustomizer;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.amqplocks.spring.internal.observation.LockObservations;
import io.amqplocks.spring.observation.LockAcquireConvention;
import io.amqplocks.spring.observation.LockHoldConvention;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Observations of the locks. An {@link io.amqplocks.AmqpLocks} bean of the application's own is
 * observed only if it was built with the {@code LockObserver} bean as its observer.
 */
@AutoConfiguration(
    after = AmqpLocksAutoConfiguration.class,
    afterName =
        "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({ObservationRegistry.class, LockCatalog.class})
public final class AmqpLocksObservationAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LockObservations amqpLocksObservations(
      ObservationRegistry registry,
      LockCatalog catalog,
      ObjectProvider<LockAcquireConvention> acquire,
      ObjectProvider<LockHoldConvention> hold) {
    return new LockObservations(
        registry, new MetricNames(catalog), acquire.getIfUnique(), hold.getIfUnique());
  }

  /** First of all, so that an observer which a customizer adds finds an observation begun. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  AmqpLocksCustomizer amqpLocksObservationCustomizer(LockObservations observations) {
    return builder -> builder.observer(observations);
  }
}
