package io.amqplocks.spring.internal.guard.woven;

import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.guard.GuardInterceptor;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.core.PriorityOrdered;

/**
 * What one application does with the calls of woven methods: it guards them, or it lets them pass,
 * because its proxies guard or its locks are disabled. It is among the first beans, so that also a
 * {@code @PostConstruct} method finds it, and takes down which objects the application makes.
 */
public final class WovenGuard
    implements InstantiationAwareBeanPostProcessor,
        PriorityOrdered,
        InitializingBean,
        DisposableBean {

  private final @Nullable GuardInterceptor interceptor;
  private volatile boolean closed;

  private WovenGuard(@Nullable GuardInterceptor interceptor) {
    this.interceptor = interceptor;
  }

  /** Lets all calls pass. */
  public static WovenGuard passing() {
    return new WovenGuard(null);
  }

  /**
   * Guards all calls.
   *
   * @param methods asked at the first guarded call
   * @param locks asked at the first guarded call
   */
  public static WovenGuard guarding(
      Supplier<GuardedMethods> methods, Supplier<LockOperations> locks) {
    return new WovenGuard(new GuardInterceptor(methods, locks));
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  @Override
  public void afterPropertiesSet() {
    WovenGuards.opened(this);
  }

  @Override
  public void destroy() {
    closed = true;
    WovenGuards.closed(this);
  }

  /** Notes the bean before any of its methods is called. */
  @Override
  public boolean postProcessAfterInstantiation(Object bean, String name) {
    note(bean);
    return true;
  }

  /** Notes the bean also if a factory made it. */
  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    note(bean);
    return bean;
  }

  private void note(Object bean) {
    if (WovenMethods.has(bean.getClass())) {
      WovenGuards.made(bean, this);
    }
  }

  @Nullable Object run(ProxyMethodInvocation call) throws Throwable {
    if (interceptor == null) {
      return call.proceed();
    }
    if (closed) {
      throw new IllegalStateException(
          name(call.getMethod())
              + " is guarded by a lock, and the application context that made its object is closed:"
              + " end the work before the context, as by a destroy method or a SmartLifecycle");
    }
    return interceptor.guard(call);
  }

  static String name(Method method) {
    return method.getDeclaringClass().getName() + "." + method.getName() + "()";
  }
}
