package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.guard.call.CompletionStageCall;
import io.amqplocks.spring.internal.guard.call.ReactiveCall;
import io.amqplocks.spring.internal.guard.call.SynchronousCall;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.guard.method.RunningFallback;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Runs the calls of guarded methods under their locks. */
public final class GuardInterceptor implements MethodInterceptor {

  private final Supplier<GuardedMethods> methods;
  private final Supplier<LockOperations> locks;

  public GuardInterceptor(Supplier<GuardedMethods> methods, Supplier<LockOperations> locks) {
    this.methods = methods;
    this.locks = locks;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    if (target != null && GuardingProxy.is(target)) {
      return call.proceed(); // it acquires the locks, and a mutex would wait for itself
    }
    return run(call, target == null ? call.getMethod().getDeclaringClass() : target.getClass());
  }

  /**
   * Runs a call of a woven method. If the object's class overrides it, then by what the method says
   * itself: the other one does not run it, or is not guarded. A fallback runs without its own
   * locks.
   */
  public @Nullable Object guard(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    Method method = call.getMethod();
    if (RunningFallback.is(method, target)) {
      return call.proceed();
    }
    Class<?> type = target == null ? method.getDeclaringClass() : target.getClass();
    boolean isOverridden = !DeclaredMethod.of(method, type).method().equals(method);
    return run(call, isOverridden ? method.getDeclaringClass() : type);
  }

  private @Nullable Object run(MethodInvocation call, Class<?> targetClass) throws Throwable {
    GuardedMethod method = methods.get().of(call.getMethod(), targetClass);
    return switch (method.mode()) {
      case SYNCHRONOUS -> new SynchronousCall(method, call).run(locks.get());
      case STAGE -> CompletionStageCall.begin(method, call, locks.get());
      case ASYNC_STAGE -> CompletionStageCall.beginHere(method, call, locks.get());
      case MONO, SUSPENDING -> new ReactiveCall(method, call, locks.get()).mono();
      case FLUX -> new ReactiveCall(method, call, locks.get()).flux();
    };
  }
}
