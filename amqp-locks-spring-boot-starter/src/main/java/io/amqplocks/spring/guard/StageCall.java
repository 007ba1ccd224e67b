package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.Background;
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
 * <p>Concurrency: the steps follow each other, whatever threads they run on: the locks, the method, its
 * stage, the end. Only a cancellation of the caller's future comes from aside. It ends the waiting, as
 * {@link AsyncLeases} says, or cancels the method's stage, which then ends the call: the stage is
 * published before it is looked whether the caller has cancelled, and the caller's future is cancelled
 * before its stage is looked for, so one of the two sees the other. The locks are given back in the end
 * alone, which comes once.
 */
final class StageCall {

  private final GuardedMethod method;
  private final ProxyMethodInvocation call;
  private final AsyncLeases leases;
  private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<?> stage;

  StageCall(GuardedMethod method, MethodInvocation call, LockTemplate locks) {
    this.method = method;
    // Goes on after this thread has left the chain of interceptors.
    this.call = (ProxyMethodInvocation) ((ProxyMethodInvocation) call).invocableClone();
    leases = new AsyncLeases(method.wanted(call, locks));
  }

  /** Begins, and returns at once. */
  CompletableFuture<@Nullable Object> begin() {
    var unused =
        leases
            .acquire()
            .whenComplete(
                (missed, failure) -> {
                  if (failure == null) {
                    go(missed.orElse(null));
                  } else {
                    end(null, failure);
                  }
                });
    var unusedToo =
        result.whenComplete(
            (value, failure) -> {
              if (result.isCancelled()) {
                cancel();
              }
            });
    return result;
  }

  /** Acquires the locks and calls the method on this thread. */
  CompletableFuture<@Nullable Object> beginHere() {
    try {
      go(leases.acquireHere());
    } catch (RuntimeException e) {
      end(null, e);
    }
    return result;
  }

  private void cancel() {
    CompletableFuture<?> working = stage;
    if (working != null) {
      working.cancel(true);
    } else if (!leases.isAcquired()) {
      Background.run(leases::close);
    }
  }

  private void go(@Nullable Missed missed) {
    if (result.isDone()) {
      end(null, null);
    } else if (missed != null) {
      Background.run(() -> instead(missed));
    } else {
      work();
    }
  }

  private void work() {
    try {
      if (method.isInjected()) {
        call.setArguments(method.arguments(call, leases.held()));
      }
      CompletionStage<?> returned = (CompletionStage<?>) call.proceed();
      if (returned == null) {
        end(null, null);
        return;
      }
      stage = cancellable(returned);
      CompletableFuture<?> working = stage;
      if (result.isCancelled() && working != null) {
        working.cancel(true);
      }
      returned.whenComplete(this::end);
    } catch (Throwable e) {
      end(null, e);
    }
  }

  private static @Nullable CompletableFuture<?> cancellable(CompletionStage<?> stage) {
    try {
      return stage.toCompletableFuture();
    } catch (UnsupportedOperationException e) {
      return null; // the call goes on to its end
    }
  }

  /** What asks the broker is done in the background: this may be anybody's thread. */
  private void end(@Nullable Object value, @Nullable Throwable failure) {
    Background.run(
        () -> {
          Throwable known = failure;
          try {
            LockException loss =
                method.watchesLoss() ? Held.loss(leases.held(), failure, method.where()) : null;
            known = loss == null ? failure : loss;
          } finally {
            leases.close();
            complete(value, known);
          }
        });
  }

  private void instead(Missed missed) {
    leases.close();
    try {
      Object returned = method.instead(missed, call);
      if (returned instanceof CompletionStage<?> fallback) {
        fallback.whenComplete(this::complete);
      } else {
        result.complete(returned);
      }
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }

  private void complete(@Nullable Object value, @Nullable Throwable failure) {
    if (failure == null) {
      result.complete(value);
    } else {
      result.completeExceptionally(failure);
    }
  }
}
