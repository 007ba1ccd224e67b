package io.amqplocks.spring.internal.async;

import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asynchronous work under locks for which no thread waits.
 *
 * <p>Concurrency: it is decided once, and by one thread, what follows: the work under the locks, an
 * alternative without them, or nothing because the caller has given up. The deciding thread has the
 * locks closed in the background. They are closed before an alternative begins, at the end of the
 * work, or at once. So they are closed in each case, and never while work goes on under them.
 *
 * <p>The caller acts concurrently. It gives up by completing its future in any way, at any time. If
 * nothing is decided then, this decides. Otherwise the stage of the present work is cancelled, if
 * the stage supports that. The stage is published before the code checks whether the caller has
 * given up. The future is completed before the stage is looked for. So one of the two threads sees
 * the other.
 *
 * <p>The caller's result, and what the caller chains to it, is delivered on threads for that
 * purpose, never on a thread that gives locks back.
 *
 * @param <T> the result
 */
public final class AsyncCall<T extends @Nullable Object> {

  /** The locks of one call. */
  public interface Locks {
    /**
     * The failure to report instead of the result, because a lease was lost; null if none was lost.
     * May ask the broker.
     */
    @Nullable LockException loss(@Nullable Throwable failure);

    /**
     * Ends the waiting, and gives back all locks that are held or still arrive. May ask the broker.
     * Does nothing when called again.
     */
    void close();
  }

  private static final Logger log = LoggerFactory.getLogger(AsyncCall.class);

  private final Locks locks;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final Thread caller = Thread.currentThread();
  private final CallerContext context;
  private final AtomicBoolean decided = new AtomicBoolean();
  private volatile @Nullable Future<?> cancellable;
  private volatile boolean over;

  /**
   * Creates a call under these locks, which are being acquired.
   *
   * @param context what the work is done in
   */
  public AsyncCall(Locks locks, CallerContext context) {
    this.locks = locks;
    this.context = context;
    var unused = result.whenComplete((value, failure) -> left());
  }

  /** The future that the caller has. */
  public CompletableFuture<T> result() {
    return result;
  }

  /**
   * Runs the step on another thread than the caller's, which must not be held up. That is this
   * thread or one of a pool.
   */
  public void offTheCaller(Runnable step) {
    if (Thread.currentThread().equals(caller)) {
      BackgroundExecutor.deliver(step);
    } else {
      step.run();
    }
  }

  /** Begins the work on this thread, because the locks were acquired. */
  public void work(ThrowingSupplier<@Nullable CompletionStage<T>> work) {
    if (decided.compareAndSet(false, true)) {
      begin(work, this::end);
    }
  }

  /** Begins the alternative on another thread and without locks, because they were not acquired. */
  public void instead(ThrowingSupplier<@Nullable CompletionStage<T>> other) {
    if (decided.compareAndSet(false, true)) {
      var unused =
          closed()
              .whenComplete(
                  (ignored, failure) -> {
                    if (failure == null) {
                      begin(other, this::deliver);
                    } else {
                      deliver(null, failure);
                    }
                  });
    }
  }

  /** Reports the failure to the caller, because the locks were not acquired. */
  public void fail(Throwable failure) {
    if (decided.compareAndSet(false, true)) {
      var unused = closed().whenComplete((ignored, another) -> deliver(null, unwrapped(failure)));
    }
  }

  private CompletableFuture<@Nullable Void> closed() {
    return BackgroundExecutor.call(
        () -> {
          locks.close();
          return null;
        });
  }

  private void begin(
      ThrowingSupplier<@Nullable CompletionStage<T>> work,
      BiConsumer<@Nullable T, @Nullable Throwable> end) {
    CompletionStage<T> stage = null;
    try {
      if (!result.isDone()) {
        stage = context.call(work);
      }
    } catch (Throwable e) {
      end.accept(null, e);
      return;
    }
    if (stage == null) {
      end.accept(null, null);
      return;
    }
    cancellable = CancellableStage.of(stage);
    try {
      // Before a cancellation: whatever that does, the end of the work gives the locks back.
      stage.whenComplete(
          (value, failure) -> end.accept(value, failure == null ? null : unwrapped(failure)));
    } catch (RuntimeException | Error e) {
      end.accept(null, e);
    }
    if (result.isDone()) {
      cancel();
    }
  }

  /** Ends the work in the background, since the calling thread may be anybody's. */
  private void end(@Nullable T value, @Nullable Throwable failure) {
    BackgroundExecutor.run(
        () -> {
          Throwable known = failure;
          try {
            LockException loss = locks.loss(failure);
            known = loss == null ? failure : loss;
          } catch (RuntimeException | Error e) {
            known = e;
          }
          try {
            locks.close();
          } finally {
            deliver(value, known);
          }
        });
  }

  @SuppressWarnings("NullAway") // null only where T allows it
  private void deliver(@Nullable T value, @Nullable Throwable failure) {
    over = true;
    BackgroundExecutor.deliver(
        () -> {
          if (failure == null) {
            result.complete(value);
          } else {
            result.completeExceptionally(failure);
          }
        });
  }

  /**
   * Called when the caller's future is complete. Unless the call itself completed it, the caller
   * has given up.
   */
  private void left() {
    if (!over) {
      if (decided.compareAndSet(false, true)) {
        BackgroundExecutor.run(locks::close);
      } else {
        cancel();
      }
    }
  }

  private void cancel() {
    Future<?> goingOn = cancellable;
    if (goingOn != null) {
      try {
        boolean unused = goingOn.cancel(true);
      } catch (RuntimeException e) {
        // As that of a minimal stage does. Then the locks are kept until the work ends by itself.
        log.debug("The work under the locks cannot be cancelled", e);
      }
    }
  }

  /** The failure of a stage, without the exceptions in which later stages wrapped it. */
  public static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
