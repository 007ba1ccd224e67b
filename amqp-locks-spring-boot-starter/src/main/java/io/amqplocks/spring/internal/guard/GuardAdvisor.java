package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.io.Serial;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.autoproxy.ProxyCreationContext;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.util.ClassUtils;

/**
 * Puts the locks around annotated methods. Ordered outside transactions, so that a lock is released
 * after the commit and not before.
 *
 * <p>A plain advisor of Spring AOP, which needs no AspectJ. It must be an infrastructure bean:
 * where AspectJ is missing, Spring's proxy creator looks at no others.
 */
public final class GuardAdvisor extends AbstractPointcutAdvisor implements BeanFactoryAware {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Pointcut pointcut = new Guarded();
  private final transient Advice advice;
  private final transient Set<String> matched = ConcurrentHashMap.newKeySet();
  private transient @Nullable BeanFactory beans;

  /**
   * An advisor at that place among others.
   *
   * @param methods asked at the first guarded call, so that the advisor drags nothing into its
   *     creation, which comes before that of other beans
   * @param locks asked at the first guarded call
   */
  public GuardAdvisor(Supplier<GuardedMethods> methods, Supplier<LockOperations> locks, int order) {
    advice = new GuardInterceptor(methods, locks);
    setOrder(order);
  }

  @Override
  public Pointcut getPointcut() {
    return pointcut;
  }

  @Override
  public Advice getAdvice() {
    return advice;
  }

  @Override
  public void setBeanFactory(BeanFactory factory) {
    beans = factory;
  }

  /** Whether a proxy of that bean was made with this advisor, whatever may be around it by now. */
  boolean guards(String bean) {
    return matched.contains(bean);
  }

  /** As the creator of proxies was told, which is there by the time that it asks. */
  private boolean proxiesAreOfClasses() {
    BeanFactory asked = beans;
    String creator = AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME;
    return asked != null
        && asked.containsBean(creator)
        && asked.getBean(creator) instanceof ProxyConfig config
        && config.isProxyTargetClass();
  }

  private final class Guarded extends StaticMethodMatcherPointcut {
    Guarded() {
      setClassFilter(GuardScanner::mayBeGuarded);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
      boolean guarded = DeclaredMethod.of(method, targetClass).isGuarded();
      if (guarded
          && Modifier.isFinal(targetClass.getModifiers())
          && !DeclaredMethod.isMadeFromInterface(targetClass)
          && (proxiesAreOfClasses()
              || ClassUtils.getAllInterfacesForClass(targetClass).length == 0)) {
        throw new GuardedMethodException(
            targetClass.getName()
                + "."
                + method.getName()
                + "() cannot be guarded by a lock: its class is final, so there can be no proxy of it:"
                + " take 'final' away (in Kotlin, say 'open'; a record cannot be guarded); or have proxies"
                + " of its interface, if it has one, by spring.aop.proxy-target-class=false");
      }
      String bean = ProxyCreationContext.getCurrentProxiedBeanName();
      if (guarded && bean != null) {
        matched.add(bean);
      }
      return guarded;
    }
  }
}
