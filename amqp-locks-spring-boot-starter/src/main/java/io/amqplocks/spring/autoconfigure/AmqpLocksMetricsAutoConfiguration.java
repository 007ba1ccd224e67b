package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.SemaphoreSetup;
import io.amqplocks.spring.metrics.LockGauges;
import io.amqplocks.spring.metrics.LockMeters;
import io.amqplocks.spring.metrics.ObservedMeters;
import io.amqplocks.spring.observation.LockObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Meters of the locks. An {@link AmqpLocks} bean of the application's own has those of held and lost
 * leases only if it was built with the {@link LockMeters} bean as a listener. Who times calls and
 * leases depends: where a {@link MeterObservationHandler} makes timers of observations, {@link
 * LockObservations} do, which such a bean needs as its observer then; else {@link LockMeters} do.
 */
@AutoConfiguration(
    after = {AmqpLocksAutoConfiguration.class, AmqpLocksObservationAutoConfiguration.class},
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MeterRegistry.class, AmqpLocks.class, LockCatalog.class, SemaphoreSetup.class})
public final class AmqpLocksMetricsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LockMeters amqpLocksMeters(MeterRegistry registry, LockCatalog catalog) {
    return new LockMeters(registry, catalog);
  }

  @Bean
  @ConditionalOnMissingBean
  LockGauges amqpLocksGauges(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    return new LockGauges(locks, catalog, setup);
  }

  /** Where locks are observed, and somebody makes timers of that; looked at before the beans above. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ObservationRegistry.class)
  @ConditionalOnBean({LockObservations.class, MeterObservationHandler.class})
  static class ObservedConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockMeters amqpLocksMeters(MeterRegistry registry, LockCatalog catalog) {
      return new LockMeters(registry, catalog, false);
    }

    @Bean
    @ConditionalOnMissingBean
    ObservedMeters amqpLocksObservedMeters(
        LockCatalog catalog,
        LockObservations observations,
        ObjectProvider<ObservationFilter> filters) {
      return new ObservedMeters(catalog, observations, filters.orderedStream().toList());
    }
  }
}
