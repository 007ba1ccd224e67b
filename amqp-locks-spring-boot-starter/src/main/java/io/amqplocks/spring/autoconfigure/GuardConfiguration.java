package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import io.amqplocks.spring.internal.guard.GuardScanner;
import io.amqplocks.spring.internal.guard.GuardedMethods;
import io.amqplocks.spring.internal.guard.LifecycleMethodCheck;
import io.amqplocks.spring.internal.guard.MissingSemaphores;
import io.amqplocks.spring.internal.guard.MisspelledNames;
import io.amqplocks.spring.internal.guard.TooManyPermits;
import io.amqplocks.spring.internal.guard.UnguardedRunListener;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/** Guards annotated methods. Static, because advisors are created before other beans. */
@Configuration(proxyBeanMethods = false)
@Import(ProxyCreator.class)
class GuardConfiguration {

  @Bean
  @ConditionalOnMissingBean
  static GuardedMethods amqpLocksGuardedMethods(
      LockCatalog catalog,
      AmqpLocksProperties properties,
      ObjectProvider<UnguardedRunListener> unguarded,
      LossLog losses,
      ConfigurableListableBeanFactory beans) {
    return new GuardedMethods(
        catalog,
        beans::resolveEmbeddedValue,
        new BeanFactoryResolver(beans),
        properties.annotations().onUnavailable(),
        lock -> unguarded.orderedStream().forEach(each -> each.ranWithout(lock)),
        losses);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean
  static GuardAdvisor amqpLocksGuardAdvisor(
      ObjectProvider<GuardedMethods> methods,
      ObjectProvider<LockOperations> locks,
      Environment environment) {
    // Not by the bean of all properties: it would be created too early to be processed by all
    // others.
    int order =
        Binder.get(environment)
            .bind("amqp-locks.annotations.order", Integer.class)
            .orElse(AmqpLocksProperties.DEFAULT_ORDER);
    return new GuardAdvisor(
        SingletonSupplier.of(methods::getObject), SingletonSupplier.of(locks::getObject), order);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean
  static LifecycleMethodCheck amqpLocksLifecycleMethodCheck() {
    return new LifecycleMethodCheck();
  }

  @Bean
  @ConditionalOnMissingBean
  static MissingSemaphores amqpLocksMissingSemaphores(
      GuardedMethods methods, LockCatalog catalog, AmqpLocks locks) {
    return new MissingSemaphores(methods, catalog, locks);
  }

  @Bean
  @ConditionalOnMissingBean
  static TooManyPermits amqpLocksTooManyPermits(
      GuardedMethods methods, LockCatalog catalog, SemaphoreSetup setup, AmqpLocks locks) {
    return new TooManyPermits(methods, catalog, setup, locks);
  }

  @Bean
  @ConditionalOnMissingBean
  static MisspelledNames amqpLocksMisspelledNames(GuardedMethods methods, LockCatalog catalog) {
    return new MisspelledNames(methods, catalog);
  }

  @Bean
  @ConditionalOnMissingBean
  static GuardScanner amqpLocksGuardScanner(
      ConfigurableListableBeanFactory beans, GuardedMethods methods) {
    return new GuardScanner(beans, methods);
  }
}
