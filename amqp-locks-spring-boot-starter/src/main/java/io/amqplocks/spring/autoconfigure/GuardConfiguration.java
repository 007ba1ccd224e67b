package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.guard.GuardAspect;
import io.amqplocks.spring.guard.GuardScanner;
import io.amqplocks.spring.guard.GuardedMethods;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;

/** Guards annotated methods. Static, because aspects are created before other beans. */
@Configuration(proxyBeanMethods = false)
class GuardConfiguration {

  @Bean
  @ConditionalOnMissingBean
  static GuardedMethods amqpLocksGuardedMethods(
      LockCatalog catalog, ConfigurableListableBeanFactory beans) {
    return new GuardedMethods(catalog, beans::resolveEmbeddedValue);
  }

  @Bean
  @ConditionalOnMissingBean
  static GuardAspect amqpLocksGuardAspect(
      GuardedMethods methods, ObjectProvider<LockTemplate> locks, AmqpLocksProperties properties) {
    return new GuardAspect(
        methods, SingletonSupplier.of(locks::getObject), properties.annotations().order());
  }

  @Bean
  @ConditionalOnMissingBean
  static GuardScanner amqpLocksGuardScanner(
      ConfigurableListableBeanFactory beans, GuardedMethods methods) {
    return new GuardScanner(beans, methods);
  }
}
