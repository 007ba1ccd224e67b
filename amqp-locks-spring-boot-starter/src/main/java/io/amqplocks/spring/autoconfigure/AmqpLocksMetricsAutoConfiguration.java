package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.method.UnguardedRunListener;
import io.amqplocks.spring.internal.leader.LeaderElections;
import io.amqplocks.spring.internal.metrics.LeaderGauges;
import io.amqplocks.spring.internal.metrics.LockGauges;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.amqplocks.spring.internal.metrics.MeterDescriptions;
import io.amqplocks.spring.internal.metrics.ObservedMeters;
import io.amqplocks.spring.internal.observation.LockObservations;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
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
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Meters of the locks. An {@link AmqpLocks} bean of the application's own has meters of lost leases
 * only if it was built with all {@code LockListener} beans as its listeners; {@link LockMeters} is
 * one of them. If a {@link MeterObservationHandler} makes timers of observations,
 * {@link LockObservations} time calls and leases, and the {@code AmqpLocks} bean needs that {@code
 * LockObserver} bean as its observer. Otherwise {@link LockMeters} time them.
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
  UnguardedRunListener amqpLocksUnguardedRunMeters(LockMeters meters) {
    return meters::ranWithout;
  }

  @Bean
  @ConditionalOnMissingBean
  LockGauges amqpLocksGauges(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    return new LockGauges(locks, catalog, setup);
  }

  @Bean
  @ConditionalOnMissingBean
  LeaderGauges amqpLocksLeaderGauges(LeaderElections elections) {
    return new LeaderGauges(elections);
  }

  /** For observed locks whose observations become timers. Evaluated before the beans above. */
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

    /** First of all, before a filter of the application gives the meters other names. */
    @Bean
    @ConditionalOnMissingBean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static MeterDescriptions amqpLocksMeterDescriptions() {
      return new MeterDescriptions();
    }
  }
}
