package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;

/**
 * Warns of locks that are released before the transaction of their own method commits: transactions
 * were given an order, and are outside. Spring's transactions may be missing, so their interceptor
 * is told by its name.
 */
final class OuterTransactions {

  private static final Logger log = LoggerFactory.getLogger(OuterTransactions.class);

  private static final String INTERCEPTOR =
      "org.springframework.transaction.interceptor.TransactionInterceptor";

  private final GuardedMethods methods;

  OuterTransactions(GuardedMethods methods) {
    this.methods = methods;
  }

  void warn(Class<?> type, Set<Method> guarded, Object bean) {
    if (!(bean instanceof Advised proxy)) {
      return;
    }
    List<Advisor> advisors = List.of(proxy.getAdvisors());
    if (advisors.stream().noneMatch(GuardAdvisor.class::isInstance)) {
      return; // what guards is behind this proxy
    }
    List<Advisor> outer =
        advisors.stream()
            .takeWhile(advisor -> !(advisor instanceof GuardAdvisor))
            .filter(OuterTransactions::isTransactional)
            .toList();
    String released =
        guarded.stream()
            .filter(method -> isReleasedAtItsEnd(method, type))
            .filter(method -> outer.stream().anyMatch(each -> isFor(each, method, type)))
            .map(method -> method.getName() + "()")
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    if (!released.isEmpty()) {
      log.warn(
          "{} of {}: the lock is inside the method's own transaction, since transactions have an order, and is"
              + " released before the commit. Let the lock be outside, by an amqp-locks.annotations.order that is"
              + " lower than that of transactions; or keep it until the commit, by releaseAfter = TRANSACTION in the"
              + " annotation. If this is what you want, set amqp-locks.annotations.order to what it is by default",
          released,
          type.getName());
    }
  }

  private static boolean isTransactional(Advisor advisor) {
    return Stream.<Class<?>>iterate(
            advisor.getAdvice().getClass(), type -> type != null, Class::getSuperclass)
        .anyMatch(type -> type.getName().equals(INTERCEPTOR));
  }

  private static boolean isFor(Advisor advisor, Method method, Class<?> type) {
    if (!(advisor instanceof PointcutAdvisor limited)) {
      return true;
    }
    Pointcut pointcut = limited.getPointcut();
    return pointcut.getClassFilter().matches(type)
        && pointcut.getMethodMatcher().matches(method, type);
  }

  /** A stage's lock is kept until the stage ends, and its work is in no transaction of a thread. */
  private boolean isReleasedAtItsEnd(Method method, Class<?> type) {
    GuardedMethod read = methods.of(method, type);
    return read.mode() != ExecutionMode.STAGE
        && read.mode() != ExecutionMode.ASYNC_STAGE
        && read.guards().stream().anyMatch(guard -> guard.releaseAfter() == ReleaseAfter.METHOD);
  }
}
