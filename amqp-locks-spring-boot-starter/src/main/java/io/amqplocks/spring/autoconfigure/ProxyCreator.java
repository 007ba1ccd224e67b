package io.amqplocks.spring.autoconfigure;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Sees to it that beans get proxies, also where {@code spring.aop.auto} is false: a method that is
 * annotated must not run without its locks. Boot's own settings decide between proxies of classes
 * and of interfaces.
 */
final class ProxyCreator implements ImportBeanDefinitionRegistrar {

  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata importing, BeanDefinitionRegistry registry) {
    AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
  }
}
