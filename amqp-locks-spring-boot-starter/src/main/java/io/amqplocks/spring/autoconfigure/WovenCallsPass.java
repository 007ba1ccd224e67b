package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.internal.guard.woven.WovenGuard;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * Where classes are woven all the same, their aspect does nothing: proxies guard, or locks are
 * disabled. With both, a method that returns a stage would wait for itself.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.aspectj.lang.ProceedingJoinPoint")
class WovenCallsPass {

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static WovenGuard amqpLocksWovenGuard() {
    return WovenGuard.passing();
  }
}
