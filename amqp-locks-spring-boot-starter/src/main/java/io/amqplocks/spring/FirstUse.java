package io.amqplocks.spring;

import io.amqplocks.lock.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * An asynchronous acquire of a semaphore that must be created first: that asks the broker, so it is
 * done in the background.
 *
 * <p>Concurrency: the caller's future is completed once. If it was cancelled before the acquire began,
 * none begins, or the one that began meanwhile is cancelled by the same check: it is made after the
 * acquire has begun, and the cancellation's callback is there before that.
 */
final class FirstUse {

  private FirstUse() {}

  static CompletableFuture<Lease> acquire(
      Runnable create, Supplier<CompletableFuture<Lease>> acquire) {
    CompletableFuture<Lease> result = new CompletableFuture<>();
    Background.run(
        () -> {
          try {
            create.run();
            if (!result.isDone()) {
              pass(acquire.get(), result);
            }
          } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  private static void pass(CompletableFuture<Lease> attempt, CompletableFuture<Lease> result) {
    var unused =
        attempt.whenComplete(
            (lease, failure) -> {
              if (failure != null) {
                result.completeExceptionally(
                    failure instanceof CompletionException && failure.getCause() != null
                        ? failure.getCause()
                        : failure);
              } else if (!result.complete(lease)) {
                Background.run(lease::close);
              }
            });
    var unusedToo =
        result.whenComplete(
            (lease, failure) -> {
              if (result.isCancelled()) {
                attempt.cancel(true);
              }
            });
  }
}
