package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.Async;

/**
 * Refuses {@code @Async} methods without a result that are handed to another thread within the
 * lock. Their locks would be released before their work begins. By default Spring hands them over
 * outside the lock. A method that returns a stage keeps its lock until that ends.
 */
final class AsyncBehindLock {

  private final GuardedMethods methods;
  private final BooleanSupplier asyncIsWoven;

  /**
   * Checks methods.
   *
   * @param asyncIsWoven whether AspectJ carries out {@code @Async}, which is behind all proxies
   */
  AsyncBehindLock(GuardedMethods methods, BooleanSupplier asyncIsWoven) {
    this.methods = methods;
    this.asyncIsWoven = asyncIsWoven;
  }

  void refuse(String name, Class<?> type, Set<Method> guarded, @Nullable Object bean) {
    for (Method method : guarded) {
      if (method.getReturnType() == void.class
          && methods.of(method, type).mode() == ExecutionMode.SYNCHRONOUS
          && (isWoven(method) || (ExecutionMode.isAsync(method, type) && isHandedOver(bean)))) {
        throw new GuardedMethodException(
            "The method %s() of the bean '%s' of %s is @Async and returns nothing, and @Async is behind its lock: the"
                    .formatted(method.getName(), name, type.getName())
                + " lock would be released before the work begins. Use @EnableAsync without mode = ASPECTJ and"
                + " without an order, or let the method return a CompletableFuture that completes when the work has"
                + " ended");
      }
    }
  }

  /** Spring's aspect sees only annotations that are right there. */
  private boolean isWoven(Method method) {
    return (method.isAnnotationPresent(Async.class)
            || method.getDeclaringClass().isAnnotationPresent(Async.class))
        && asyncIsWoven.getAsBoolean();
  }

  /** Whether the advice of {@code @Async} comes after that of locks. */
  private static boolean isHandedOver(@Nullable Object bean) {
    List<Advisor> inner = new ArrayList<>();
    for (Object each = bean; each instanceof Advised proxy; each = target(proxy)) {
      inner.addAll(List.of(proxy.getAdvisors()));
    }
    return inner.stream()
        .dropWhile(advisor -> !(advisor instanceof GuardAdvisor))
        .anyMatch(advisor -> advisor.getAdvice() instanceof AsyncExecutionInterceptor);
  }

  private static @Nullable Object target(Advised proxy) {
    return AopProxyUtils.getSingletonTarget(proxy);
  }
}
