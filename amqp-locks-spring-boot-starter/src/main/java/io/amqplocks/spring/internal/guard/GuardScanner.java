package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.BeansException;
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
 * are created before work begins. Looks at classes: a lazy bean stays uncreated. A bean whose class
 * shows only when it is created is read at its first guarded call. A bean that was created before
 * there were proxies stops the start, be it made by a factory or not.
 */
public final class GuardScanner implements SmartInitializingSingleton {

  private static final Logger log = LoggerFactory.getLogger(GuardScanner.class);

  private final ConfigurableListableBeanFactory beans;
  private final GuardedMethods methods;
  private final GuardedBeanCheck check;

  /**
   * Scans those beans.
   *
   * @param check whether the calls of what it finds are guarded
   */
  public GuardScanner(
      ConfigurableListableBeanFactory beans, GuardedMethods methods, GuardedBeanCheck check) {
    this.beans = beans;
    this.methods = methods;
    this.check = check;
  }

  @Override
  public void afterSingletonsInstantiated() {
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = typeOf(name);
      if (type != null && mayBeGuarded(type)) {
        scan(name, type);
      }
    }
    check.complete();
    methods.complete();
  }

  private void scan(String name, Class<?> type) {
    Set<Method> guarded = guardedMethods(name, type);
    guarded.forEach(method -> methods.of(method, type));
    if (!guarded.isEmpty()) {
      check.check(name, type, guarded, created(name));
    }
  }

  /**
   * The bean, if it was created; null otherwise. A factory's product counts as created if it was
   * injected into another bean. Others are not asked for, since that could create them.
   */
  private @Nullable Object created(String name) {
    Object bean = beans.getSingleton(name);
    if (!(bean instanceof FactoryBean<?> factory)) {
      return unlessNull(bean);
    }
    if (!factory.isSingleton() || isLazy(name) || beans.getDependentBeans(name).length == 0) {
      return null;
    }
    try {
      return unlessNull(beans.getBean(name));
    } catch (BeansException e) {
      log.debug("The bean '{}' cannot be created now", name, e);
      return null; // whoever needs it is told
    }
  }

  @SuppressWarnings("EqualsNull") // what Spring has in the place of null says so
  private static @Nullable Object unlessNull(@Nullable Object bean) {
    return bean == null || bean.equals(null) ? null : bean;
  }

  private boolean isLazy(String name) {
    return beans.containsBeanDefinition(name) && beans.getMergedBeanDefinition(name).isLazyInit();
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
  public static boolean mayBeGuarded(Class<?> type) {
    return !type.getName().startsWith("org.springframework.")
        || AnnotatedElementUtils.isAnnotated(type, Component.class);
  }
}
