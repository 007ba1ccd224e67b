package io.amqplocks.spring.internal.guard.call;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.async.AsyncCall;
import io.amqplocks.spring.internal.async.CallerContext;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.HeldLock;
import io.amqplocks.spring.internal.guard.method.MissedLock;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of a method that works until the stage completes that it returns. The caller has another
 * one, which completes when the locks are given back.
 *
 * <p>Concurrency: as {@link AsyncCall} says, which orders the steps, and {@link AsyncLeases}, which
 * may be closed at any time.
 */
public final class CompletionStageCall implements AsyncCall.Locks {

  private final GuardedMethod method;
  private final ProxyMethodInvocation call;
  private final AsyncLeases leases;
  private final AsyncCall<@Nullable Object> asyncCall;

  private CompletionStageCall(GuardedMethod method, MethodInvocation call, LockOperations locks) {
    this.method = method;
    // Goes on after this thread has left the chain of interceptors.
    this.call = (ProxyMethodInvocation) ((ProxyMethodInvocation) call).invocableClone();
    leases =
        new AsyncLeases(
            method, method.requests(call, locks), LeaseScope.ofStages(LeaseScope.current()));
    asyncCall = new AsyncCall<>(this, CallerContext.here());
  }

  /** Begins, and returns at once. */
  public static CompletableFuture<@Nullable Object> begin(
      GuardedMethod method, MethodInvocation call, LockOperations locks) {
    CompletionStageCall begun;
    try {
      begun = new CompletionStageCall(method, call, locks);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e); // as of a wrong key
    }
    AsyncCall<@Nullable Object> asyncCall = begun.asyncCall;
    var unused =
        begun
            .leases
            .acquire()
            .whenComplete(
                (missed, failure) ->
                    asyncCall.offTheCaller(
                        () -> {
                          if (failure == null) {
                            begun.go(missed.orElse(null));
                          } else {
                            asyncCall.fail(failure);
                          }
                        }));
    return asyncCall.result();
  }

  /** Acquires the locks and calls the method on this thread. */
  public static CompletableFuture<@Nullable Object> beginHere(
      GuardedMethod method, MethodInvocation call, LockOperations locks) {
    CompletionStageCall begun;
    try {
      begun = new CompletionStageCall(method, call, locks);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    try {
      begun.go(begun.leases.acquireHere());
    } catch (RuntimeException | Error e) {
      begun.asyncCall.fail(e);
    }
    return begun.asyncCall.result();
  }

  private void go(@Nullable MissedLock missed) {
    if (missed == null) {
      asyncCall.work(this::proceed);
    } else {
      asyncCall.instead(() -> instead(missed));
    }
  }

  /** Advice of AspectJ's style, which is behind this, looks for the call on its own thread. */
  @SuppressWarnings("unchecked") // what the method says that it returns
  private @Nullable CompletionStage<@Nullable Object> proceed() throws Throwable {
    leases.workBegins();
    if (method.isInjected()) {
      call.setArguments(method.arguments(call, leases.held()));
    }
    return (CompletionStage<@Nullable Object>)
        LeaseScope.call(leases.scope(), () -> ExposeInvocationInterceptor.INSTANCE.invoke(call));
  }

  @SuppressWarnings("unchecked") // a fallback returns what the method does
  private CompletionStage<@Nullable Object> instead(MissedLock missed) throws Throwable {
    Object returned = method.instead(missed, call);
    return returned instanceof CompletionStage<?> stage
        ? (CompletionStage<@Nullable Object>) stage
        : CompletableFuture.completedFuture(returned);
  }

  @Override
  public @Nullable LockException loss(@Nullable Throwable failure) {
    return method.watchesLoss() ? HeldLock.loss(leases.held(), failure, method.where()) : null;
  }

  @Override
  public void close() {
    leases.close();
  }
}
