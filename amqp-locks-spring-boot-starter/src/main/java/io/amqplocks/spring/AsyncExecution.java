package io.amqplocks.spring;

import io.amqplocks.lock.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Work that goes on after it was begun, under a lock that no thread waits for.
 *
 * <p>Concurrency: the steps follow each other, whatever threads they run on: the lease, the work, its
 * end. The lease is given back in the end alone, or by its arrival if nobody wants it any more. Only
 * the caller comes from aside, who may complete the future, as by a cancellation or {@code orTimeout}:
 * that ends the waiting, or cancels the work's stage, whose end then gives the lease back. The stage
 * is published before it is looked whether the caller has given up, and the future is completed
 * before its stage is looked for, so one of the two sees the other.
 *
 * @param <T> the result
 */
final class AsyncExecution<T extends @Nullable Object> {

  private final Supplier<? extends CompletionStage<T>> work;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<?> stage;
  private volatile boolean over;

  private AsyncExecution(Supplier<? extends CompletionStage<T>> work) {
    this.work = work;
  }

  /** Does the work when that lease is there. */
  static <T extends @Nullable Object> CompletableFuture<T> under(
      CompletableFuture<Lease> lease, Supplier<? extends CompletionStage<T>> work) {
    AsyncExecution<T> execution = new AsyncExecution<>(work);
    CompletionStage<Lease> arrival = lease;
    arrival.whenComplete(execution::arrived);
    CompletionStage<T> end = execution.result;
    end.whenComplete((value, failure) -> execution.left(lease));
    return execution.result;
  }

  private void arrived(@Nullable Lease lease, @Nullable Throwable failure) {
    if (lease == null) {
      over = true;
      result.completeExceptionally(unwrapped(failure));
    } else if (result.isDone()) {
      Background.run(lease::close);
    } else {
      begin(lease);
    }
  }

  private void begin(Lease lease) {
    CompletionStage<T> begun;
    try {
      begun = work.get();
      stage = cancellable(begun);
      if (result.isDone()) {
        cancelStage();
      }
    } catch (Throwable e) {
      end(lease, () -> result.completeExceptionally(e));
      return;
    }
    begun.whenComplete(
        (value, failure) ->
            end(
                lease,
                () -> {
                  if (failure == null) {
                    result.complete(value);
                  } else {
                    result.completeExceptionally(unwrapped(failure));
                  }
                }));
  }

  /** In the background, since giving back may ask the broker and this may be anybody's thread. */
  private void end(Lease lease, Runnable tell) {
    Background.run(
        () -> {
          lease.close();
          over = true;
          tell.run();
        });
  }

  /** The caller's future is complete: if not by the end, the caller has given up. */
  private void left(CompletableFuture<Lease> lease) {
    if (!over) {
      lease.cancel(true);
      cancelStage();
    }
  }

  private void cancelStage() {
    CompletableFuture<?> working = stage;
    if (working != null) {
      working.cancel(true);
    }
  }

  private static @Nullable CompletableFuture<?> cancellable(CompletionStage<?> stage) {
    try {
      return stage.toCompletableFuture();
    } catch (UnsupportedOperationException e) {
      return null; // the work goes on to its end
    }
  }

  private static Throwable unwrapped(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? new CompletionException("Failed without a reason", failure) : cause;
  }
}
