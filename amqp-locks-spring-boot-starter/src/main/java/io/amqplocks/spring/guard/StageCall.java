package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LaterCall;
import io.amqplocks.spring.LockTemplate;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * A call of a method that works until the stage completes that it returns. The caller has another one,
 * which completes when the locks are given back.
 *
 * <p>Concurrency: as {@link LaterCall} says, which orders the steps, and {@link AsyncLeases}, which may
 * be closed at any time.
 */
final class StageCall implements LaterCall.Locks {

  private final GuardedMethod method;
  private final ProxyMethodInvocation call;
  private final AsyncLeases leases;
  private final LaterCall<@Nullable Object> later;

  private StageCall(GuardedMethod method, MethodInvocation call, LockTemplate locks) {
    this.method = method;
    // Goes on after this thread has left the chain of interceptors.
    this.call = (ProxyMethodInvocation) ((ProxyMethodInvocation) call).invocableClone();
    leases = new AsyncLeases(method.wanted(call, locks));
    later = new LaterCall<>(this);
  }

  /** Begins, and returns at once. */
  static CompletableFuture<@Nullable Object> begin(
      GuardedMethod method, MethodInvocation call, LockTemplate locks) {
    StageCall begun;
    try {
      begun = new StageCall(method, call, locks);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e); // as of a wrong key
    }
    LaterCall<@Nullable Object> later = begun.later;
    var unused =
        begun
            .leases
            .acquire()
            .whenComplete(
                (missed, failure) ->
                    later.offTheCaller(
                        () -> {
                          if (failure == null) {
                            begun.go(missed.orElse(null));
                          } else {
                            later.fail(failure);
                          }
                        }));
    return later.result();
  }

  /** Acquires the locks and calls the method on this thread. */
  static CompletableFuture<@Nullable Object> beginHere(
      GuardedMethod method, MethodInvocation call, LockTemplate locks) {
    StageCall begun;
    try {
      begun = new StageCall(method, call, locks);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    try {
      begun.go(begun.leases.acquireHere());
    } catch (RuntimeException | Error e) {
      begun.later.fail(e);
    }
    return begun.later.result();
  }

  private void go(@Nullable Missed missed) {
    if (missed == null) {
      later.work(this::proceed);
    } else {
      later.instead(() -> instead(missed));
    }
  }

  @SuppressWarnings("unchecked") // what the method says that it returns
  private @Nullable CompletionStage<@Nullable Object> proceed() throws Throwable {
    if (method.isInjected()) {
      call.setArguments(method.arguments(call, leases.held()));
    }
    return (CompletionStage<@Nullable Object>) call.proceed();
  }

  @SuppressWarnings("unchecked") // a fallback returns what the method does
  private CompletionStage<@Nullable Object> instead(Missed missed) throws Throwable {
    Object returned = method.instead(missed, call);
    return returned instanceof CompletionStage<?> stage
        ? (CompletionStage<@Nullable Object>) stage
        : CompletableFuture.completedFuture(returned);
  }

  @Override
  public @Nullable LockException loss(@Nullable Throwable failure) {
    return method.watchesLoss() ? Held.loss(leases.held(), failure, method.where()) : null;
  }

  @Override
  public void close() {
    leases.close();
  }
}
