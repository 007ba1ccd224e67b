package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.GuardedMethodException;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;

/**
 * Reads the annotations of all beans at startup, so that a wrong one is found then, and semaphores
 * are created before work begins. Looks at classes only: a lazy bean stays uncreated. A bean whose
 * class shows only when it is created is read at its first guarded call.
 */
public final class GuardScanner implements SmartInitializingSingleton {

  private static final Logger log = LoggerFactory.getLogger(GuardScanner.class);

  private final ConfigurableListableBeanFactory beans;
  private final GuardedMethods methods;

  /** Scans those beans. */
  public GuardScanner(ConfigurableListableBeanFactory beans, GuardedMethods methods) {
    this.beans = beans;
    this.methods = methods;
  }

  @Override
  public void afterSingletonsInstantiated() {
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = typeOf(name);
      if (type != null && mayBeGuarded(type)) {
        scan(name, type);
      }
    }
    methods.complete();
  }

  private void scan(String name, Class<?> type) {
    Set<Method> guarded = guardedMethods(name, type);
    guarded.forEach(method -> methods.of(method, type));
    Object bean = guarded.isEmpty() ? null : beans.getSingleton(name);
    if (bean != null
        && !(bean instanceof FactoryBean)
        && !GuardingProxy.mayBe(bean)
        && !MockedBean.is(bean)) {
      throw new GuardedMethodException(
          "The bean '%s' of %s has guarded methods but no proxy that guards them, so they would run without their locks."
                  .formatted(name, type.getName())
              + " Something that processes beans (a BeanPostProcessor, a BeanFactoryPostProcessor or an"
              + " Advisor) depends on it, so that it was created too early: let that ask for it later, as by"
              + " an ObjectProvider or @Lazy, or declare it by a static @Bean method without the dependency");
    }
  }

  static Set<Method> guardedMethods(String name, Class<?> type) {
    try {
      return MethodIntrospector.selectMethods(
              type,
              (MetadataLookup<Boolean>)
                  method -> DeclaredMethod.of(method, type).isGuarded() ? Boolean.TRUE : null)
          .keySet();
    } catch (RuntimeException | LinkageError e) {
      // As of a bean that is not created here, since a type in its signatures is not there.
      log.debug("The methods of the bean '{}' are read at their first guarded call", name, e);
      return Set.of();
    }
  }

  private @Nullable Class<?> typeOf(String name) {
    if (ScopedProxyUtils.isScopedTarget(name)) {
      return null; // its proxy is a bean too, and knows the class
    }
    try {
      Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
      return type == null ? null : ClassUtils.getUserClass(type);
    } catch (RuntimeException | LinkageError e) {
      return null; // as from a lazy bean of a class that is not there: found at its first call
    }
  }

  /** Spring's own beans are not; they are many, and looking takes time. */
  static boolean mayBeGuarded(Class<?> type) {
    return !type.getName().startsWith("org.springframework.")
        || AnnotatedElementUtils.isAnnotated(type, Component.class);
  }
}
