package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.guard.GuardedBeanCheck;
import io.amqplocks.spring.internal.guard.check.LifecycleMethodCheck;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.guard.woven.WovenBeans;
import io.amqplocks.spring.internal.guard.woven.WovenGuard;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/** Guards methods by what AspectJ has woven into them. No class of AspectJ is needed to start. */
@Configuration(proxyBeanMethods = false)
@Conditional(AdviceModeCondition.Aspectj.class)
class AspectjGuardConfiguration {

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static WovenGuard amqpLocksWovenGuard(
      ObjectProvider<GuardedMethods> methods, ObjectProvider<LockOperations> locks) {
    return WovenGuard.guarding(
        SingletonSupplier.of(methods::getObject), SingletonSupplier.of(locks::getObject));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static LifecycleMethodCheck amqpLocksLifecycleMethodCheck() {
    return new LifecycleMethodCheck(AdviceMode.ASPECTJ);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static GuardedBeanCheck amqpLocksGuardedBeanCheck() {
    return new WovenBeans();
  }
}
