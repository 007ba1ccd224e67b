package io.amqplocks.spring.internal.async;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one lock of work that goes on after it was begun.
 *
 * @param lease which is on its way
 * @param worked whether the work has begun; else no lease is kept for its minimum time
 */
public record AsyncExecution(CompletableFuture<Lease> lease, AtomicBoolean worked)
    implements AsyncCall.Locks {

  /** Does the work in that context when that lease is there. */
  public static <T extends @Nullable Object> CompletableFuture<T> under(
      CallerContext context,
      CompletableFuture<Lease> lease,
      Supplier<? extends CompletionStage<T>> work) {
    AtomicBoolean worked = new AtomicBoolean();
    AsyncCall<T> call = new AsyncCall<>(new AsyncExecution(lease, worked), context);
    var unused =
        lease.whenComplete(
            (held, failure) ->
                call.offTheCaller(
                    () -> {
                      if (failure == null) {
                        call.work(
                            () -> {
                              worked.set(true);
                              return work.get();
                            });
                      } else {
                        call.fail(failure);
                      }
                    }));
    return call.result();
  }

  @Override
  public @Nullable LockException loss(@Nullable Throwable failure) {
    return null; // published as an event
  }

  @Override
  public void close() {
    // One that arrives after a cancellation is given back by its arrival.
    if (!lease.cancel(true) && !lease.isCompletedExceptionally()) {
      Lease held = lease.join();
      if (worked.get()) {
        held.close();
      } else {
        MinimumHold.closeNow(held);
      }
    }
  }
}
