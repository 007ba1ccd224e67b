package io.amqplocks.spring.guard;

import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LockTemplate;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Acquires the locks that a method's annotations name, runs it, and gives them back however it
 * ends. Ordered outside transactions, so that a lock is released after the commit and not before.
 */
@Aspect
public final class GuardAspect implements Ordered {

  private final GuardedMethods methods;
  private final Supplier<LockTemplate> locks;
  private final int order;

  /**
   * An aspect at that place among others.
   *
   * @param locks asked at the first guarded call, so that the aspect drags no connection factory
   *     into the creation of other beans
   */
  public GuardAspect(GuardedMethods methods, Supplier<LockTemplate> locks, int order) {
    this.methods = methods;
    this.locks = locks;
    this.order = order;
  }

  /**
   * Runs the call under its locks.
   *
   * @throws IllegalStateException if it returns what it did not say that it returns: something
   *     whose work goes on without the locks
   */
  @Around(
      "@annotation(io.amqplocks.spring.MutexGuarded)"
          + " || @annotation(io.amqplocks.spring.SemaphoreGuarded)")
  public @Nullable Object guard(ProceedingJoinPoint call) throws Throwable {
    List<Guard> guards =
        methods.of(
            ((MethodSignature) call.getSignature()).getMethod(), call.getTarget().getClass());
    Deque<Lease> leases = new ArrayDeque<>(guards.size());
    try {
      for (Guard guard : guards) {
        leases.push(guard.in(locks.get()).acquire());
      }
      Object result = call.proceed();
      if (result != null && LaterWork.is(result.getClass())) {
        throw GuardedMethods.unguardable(
            call.getSignature().toShortString(), UnguardableMethod.returning(result.getClass()));
      }
      return result;
    } finally {
      leases.forEach(Lease::close);
    }
  }

  @Override
  public int getOrder() {
    return order;
  }
}
