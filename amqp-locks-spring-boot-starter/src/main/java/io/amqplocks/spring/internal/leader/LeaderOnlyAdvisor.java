package io.amqplocks.spring.internal.leader;

import io.amqplocks.spring.LeaderOnly;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/** Lets calls of {@link LeaderOnly} methods through only while this process certainly leads. */
public final class LeaderOnlyAdvisor extends StaticMethodMatcherPointcutAdvisor {

  @Serial private static final long serialVersionUID = 1L;

  /**
   * An advisor at that place among others.
   *
   * @param methods asked at the first call, as is the other one, so that the advisor drags nothing
   *     into its creation, which comes before that of other beans
   */
  public LeaderOnlyAdvisor(
      Supplier<LeaderOnlyMethods> methods, Supplier<LeaderElections> elections, int order) {
    setAdvice(new IfLeader(methods, elections));
    setOrder(order);
  }

  @Override
  public ClassFilter getClassFilter() {
    return type -> AnnotationUtils.isCandidateClass(type, LeaderOnly.class);
  }

  @Override
  public boolean matches(Method method, Class<?> targetClass) {
    return AnnotatedElementUtils.hasAnnotation(
        AopUtils.getMostSpecificMethod(method, targetClass), LeaderOnly.class);
  }

  private record IfLeader(Supplier<LeaderOnlyMethods> methods, Supplier<LeaderElections> elections)
      implements MethodInterceptor {

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
      String name = methods.get().nameFor(call.getMethod(), call.getThis());
      if (name == null || elections.get().leads(name)) {
        return call.proceed();
      }
      Method method = AopUtils.getMostSpecificMethod(call.getMethod(), targetClass(call));
      if (AnnotatedElementUtils.hasAnnotation(method, RabbitListener.class)) {
        throw new ImmediateRequeueAmqpException(
            "This process does not certainly lead by '" + name + "', so the message goes back");
      }
      return null;
    }

    private static Class<?> targetClass(MethodInvocation call) {
      Object target = call.getThis();
      return target == null ? call.getMethod().getDeclaringClass() : target.getClass();
    }
  }
}
