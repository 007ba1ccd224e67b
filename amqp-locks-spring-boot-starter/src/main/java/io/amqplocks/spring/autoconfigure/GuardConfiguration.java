package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.GuardScanner;
import io.amqplocks.spring.internal.guard.GuardedBeanCheck;
import io.amqplocks.spring.internal.guard.check.LifecycleMethodCheck;
import io.amqplocks.spring.internal.guard.check.MissingSemaphores;
import io.amqplocks.spring.internal.guard.check.MisspelledNames;
import io.amqplocks.spring.internal.guard.check.PermitsBeforeCreation;
import io.amqplocks.spring.internal.guard.check.TooManyPermits;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.guard.method.UnguardedRunListener;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.env.Environment;

/**
 * Guards annotated methods, in one mode or the other. Each context guards its own beans, also below
 * another one, whose proxies and checks do not see them.
 */
@Configuration(proxyBeanMethods = false)
@Import({ProxyGuardConfiguration.class, AspectjGuardConfiguration.class})
class GuardConfiguration {

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static GuardedMethods amqpLocksGuardedMethods(
      LockCatalog catalog,
      AmqpLocksProperties properties,
      ObjectProvider<UnguardedRunListener> unguarded,
      LossLog losses,
      ConfigurableListableBeanFactory beans,
      LifecycleMethodCheck check,
      Environment environment) {
    AdviceModeCondition.require(check.mode(), environment);
    return new GuardedMethods(
        catalog,
        beans::resolveEmbeddedValue,
        new BeanFactoryResolver(beans),
        properties.annotations().onUnavailable(),
        lock -> unguarded.orderedStream().forEach(each -> each.ranWithout(lock)),
        losses,
        check.mode());
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static MissingSemaphores amqpLocksMissingSemaphores(
      GuardedMethods methods, LockCatalog catalog, AmqpLocks locks) {
    return new MissingSemaphores(methods, catalog, locks);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static PermitsBeforeCreation amqpLocksPermitsBeforeCreation(
      GuardedMethods methods, LockCatalog catalog, AmqpLocks locks) {
    return new PermitsBeforeCreation(methods, catalog, locks);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static TooManyPermits amqpLocksTooManyPermits(
      GuardedMethods methods, LockCatalog catalog, SemaphoreSetup setup, AmqpLocks locks) {
    return new TooManyPermits(methods, catalog, setup, locks);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static MisspelledNames amqpLocksMisspelledNames(GuardedMethods methods, LockCatalog catalog) {
    return new MisspelledNames(methods, catalog);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static GuardScanner amqpLocksGuardScanner(
      ConfigurableListableBeanFactory beans, GuardedMethods methods, GuardedBeanCheck check) {
    return new GuardScanner(beans, methods, check);
  }
}
