package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.Lease;
import io.amqplocks.spring.internal.async.AsyncCall;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous acquire of a semaphore that must be created first, or again: that asks the
 * broker, so it is done in the background.
 *
 * <p>Concurrency: attempts follow each other, two at most. The caller may complete its future at
 * any time, in any way, which cancels the attempt that is under way: each is published before it is
 * looked whether the caller has done so, and the caller's future is complete before the attempt is
 * looked for, so one of the two sees the other. A lease that the caller's future does not take any
 * more is given back. That future is not completed on a thread that creates.
 */
final class CreateThenAcquire {

  private final Runnable create;
  private final Supplier<CompletableFuture<Lease>> acquire;
  private final CompletableFuture<Lease> result = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<Lease> attempt;

  private CreateThenAcquire(Runnable create, Supplier<CompletableFuture<Lease>> acquire) {
    this.create = create;
    this.acquire = acquire;
    var unused =
        result.whenComplete(
            (lease, failure) -> {
              CompletableFuture<Lease> underWay = attempt;
              if (underWay != null) {
                underWay.cancel(true);
              }
            });
  }

  /** Creates it, and then acquires it. */
  static CompletableFuture<Lease> acquire(
      Runnable create, Supplier<CompletableFuture<Lease>> acquire) {
    CreateThenAcquire use = new CreateThenAcquire(create, acquire);
    use.createAndAcquire();
    return use.result;
  }

  /**
   * The result of the first attempt. If it finds the semaphore gone, creates it and acquires it
   * again.
   *
   * @param explained the failure of that attempt, in words for this application
   */
  static CompletableFuture<Lease> again(
      CompletableFuture<Lease> first,
      Predicate<Throwable> gone,
      UnaryOperator<Throwable> explained,
      Runnable create,
      Supplier<CompletableFuture<Lease>> acquire) {
    CreateThenAcquire use = new CreateThenAcquire(create, acquire);
    use.publish(first);
    var unused =
        first.whenComplete(
            (lease, failure) -> {
              Throwable why = failure == null ? null : AsyncCall.unwrapped(failure);
              if (why != null && !use.result.isDone() && gone.test(why)) {
                use.createAndAcquire();
              } else {
                use.pass(lease, why == null ? null : explained.apply(why));
              }
            });
    return use.result;
  }

  private void createAndAcquire() {
    BackgroundExecutor.create(
        () -> {
          try {
            // Nobody waits any more for one that stood in line for long.
            if (!result.isDone()) {
              create.run();
            }
            if (!result.isDone()) {
              CompletableFuture<Lease> begun = acquire.get();
              publish(begun);
              var unused = begun.whenCompleteAsync(this::pass, BackgroundExecutor::deliver);
            }
          } catch (RuntimeException | Error e) {
            BackgroundExecutor.deliver(() -> result.completeExceptionally(e));
          }
        });
  }

  private void publish(CompletableFuture<Lease> begun) {
    attempt = begun;
    if (result.isDone()) {
      begun.cancel(true);
    }
  }

  private void pass(@Nullable Lease lease, @Nullable Throwable failure) {
    if (lease == null) {
      result.completeExceptionally(
          failure == null ? new IllegalStateException("No lease") : AsyncCall.unwrapped(failure));
    } else if (!result.complete(lease)) {
      BackgroundExecutor.run(lease::close);
    }
  }
}
