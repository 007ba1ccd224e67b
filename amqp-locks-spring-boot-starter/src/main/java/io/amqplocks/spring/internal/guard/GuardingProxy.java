package io.amqplocks.spring.internal.guard;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;

/**
 * Tells the proxies that guard from others: a client of an HTTP interface is a proxy of Spring's by
 * itself, and a proxy may be put around one that guards.
 */
final class GuardingProxy {

  private GuardingProxy() {}

  /** Whether calls of the object go through a guard, be it that of a bean behind it. */
  static boolean is(Object object) {
    @Nullable Object each = object;
    while (each instanceof Advised proxy) {
      if (Arrays.stream(proxy.getAdvisors()).anyMatch(GuardAdvisor.class::isInstance)
          || proxy.getTargetSource() instanceof AbstractBeanFactoryBasedTargetSource) {
        return true; // the latter are scoped proxies, whose target is a bean with a proxy of its
        // own
      }
      each = AopProxyUtils.getSingletonTarget(each);
    }
    return false;
  }

  /** Whether it is one, or an opaque proxy, which does not tell. */
  static boolean mayBe(Object object) {
    return is(object) || (AopUtils.isAopProxy(object) && !(object instanceof Advised));
  }
}
