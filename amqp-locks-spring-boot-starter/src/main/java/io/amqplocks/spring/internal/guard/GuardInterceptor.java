package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.LockOperations;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Runs the calls of guarded methods under their locks. */
final class GuardInterceptor implements MethodInterceptor {

  private final Supplier<GuardedMethods> methods;
  private final Supplier<LockOperations> locks;

  GuardInterceptor(Supplier<GuardedMethods> methods, Supplier<LockOperations> locks) {
    this.methods = methods;
    this.locks = locks;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Object target = call.getThis();
    if (target != null && GuardingProxy.is(target)) {
      return call.proceed(); // it acquires the locks, and a mutex would wait for itself
    }
    GuardedMethod method =
        methods
            .get()
            .of(
                call.getMethod(),
                target == null ? call.getMethod().getDeclaringClass() : target.getClass());
    return switch (method.mode()) {
      case SYNCHRONOUS -> new SynchronousCall(method, call).run(locks.get());
      case STAGE -> CompletionStageCall.begin(method, call, locks.get());
      case ASYNC_STAGE -> CompletionStageCall.beginHere(method, call, locks.get());
      case MONO -> new ReactiveCall(method, call, locks.get()).mono();
      case FLUX -> new ReactiveCall(method, call, locks.get()).flux();
    };
  }
}
