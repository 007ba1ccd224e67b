package io.amqplocks.spring.internal.leader;

import io.amqplocks.spring.LeaderOnly;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.framework.autoproxy.ProxyCreationContext;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Lets calls of {@link LeaderOnly} methods through only while this process certainly leads.
 * Listeners are none of its business: their containers run or do not, and a message that has come
 * is handled.
 */
public final class LeaderOnlyAdvisor extends StaticMethodMatcherPointcutAdvisor {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Supplier<LeaderOnlyMethods> methods;

  /**
   * An advisor at that place among others. The elections are asked for at the first call, and the
   * methods at the first proxy: the advisor is created before other beans, and must not have them
   * created too.
   */
  public LeaderOnlyAdvisor(
      Supplier<LeaderOnlyMethods> methods, Supplier<LeaderElections> elections, int order) {
    this.methods = methods;
    setAdvice(new IfLeader(methods, elections));
    setOrder(order);
  }

  @Override
  public ClassFilter getClassFilter() {
    return type -> AnnotationUtils.isCandidateClass(type, LeaderOnly.class);
  }

  @Override
  public boolean matches(Method method, Class<?> targetClass) {
    Method called = AopUtils.getMostSpecificMethod(method, targetClass);
    boolean matches =
        AnnotatedElementUtils.hasAnnotation(called, LeaderOnly.class)
            && !AnnotatedElementUtils.hasAnnotation(called, RabbitListener.class);
    String bean = ProxyCreationContext.getCurrentProxiedBeanName();
    if (matches && bean != null) {
      methods.get().proxies(bean);
    }
    return matches;
  }

  private record IfLeader(Supplier<LeaderOnlyMethods> methods, Supplier<LeaderElections> elections)
      implements MethodInterceptor {

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
      String name = methods.get().nameFor(call.getMethod(), call.getThis());
      if (name == null) {
        throw new IllegalStateException(
            call.getMethod()
                + " is called as a @LeaderOnly method, but its annotation is not found");
      }
      return elections.get().leads(name) ? call.proceed() : null;
    }
  }
}
