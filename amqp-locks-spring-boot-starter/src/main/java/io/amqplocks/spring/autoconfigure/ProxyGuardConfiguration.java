package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import io.amqplocks.spring.internal.guard.GuardedBeanCheck;
import io.amqplocks.spring.internal.guard.ProxiedBeans;
import io.amqplocks.spring.internal.guard.check.LifecycleMethodCheck;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.function.SingletonSupplier;

/** Guards methods by proxies. Static, because advisors are created before other beans. */
@Configuration(proxyBeanMethods = false)
@Conditional(AdviceModeCondition.Proxy.class)
@Import({ProxyCreator.class, WovenCallsPass.class})
class ProxyGuardConfiguration {

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static GuardAdvisor amqpLocksGuardAdvisor(
      ObjectProvider<GuardedMethods> methods,
      ObjectProvider<LockOperations> locks,
      Environment environment) {
    int order = order(environment).orElse(AmqpLocksProperties.DEFAULT_ORDER);
    return new GuardAdvisor(
        SingletonSupplier.of(methods::getObject), SingletonSupplier.of(locks::getObject), order);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static LifecycleMethodCheck amqpLocksLifecycleMethodCheck() {
    return new LifecycleMethodCheck(AdviceMode.PROXY);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static GuardedBeanCheck amqpLocksGuardedBeanCheck(
      GuardedMethods methods, GuardAdvisor advisor, Environment environment, BeanFactory beans) {
    return new ProxiedBeans(
        methods,
        advisor,
        order(environment).isBound(),
        () -> beans.containsBean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME));
  }

  /**
   * Not by the bean of all properties: it would be created too early to be processed by all others.
   */
  private static BindResult<Integer> order(Environment environment) {
    return Binder.get(environment).bind("amqp-locks.annotations.order", Integer.class);
  }
}
