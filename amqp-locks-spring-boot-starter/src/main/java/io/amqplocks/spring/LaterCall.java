package io.amqplocks.spring;

import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Work that goes on after it was begun, under locks that no thread waits for. Not meant to be called by
 * applications.
 *
 * <p>Concurrency: once, and by one thread, it is decided what becomes of the locks: work under them,
 * something instead, or nothing since the caller has given up. Whoever decides sees to it that they
 * are closed, and does it in the background: before anything instead begins; at the end of the work; or
 * at once. So they are closed in each case, and never while work goes on under them.
 *
 * <p>The caller comes from aside: it gives up by completing its future in any way, at any time. If
 * nothing is decided then, that decides. Else the stage of what goes on is cancelled, where that ends
 * it: the stage is published before it is looked whether the caller has given up, and the future is
 * completed before the stage is looked for, so one of the two sees the other. What the caller hears and
 * chains to it runs on threads for that, and never where locks are given back.
 *
 * @param <T> the result
 */
public final class LaterCall<T extends @Nullable Object> {

  /** The locks of one call. */
  public interface Locks {
    /** What the caller is to hear instead, since one was lost; may ask the broker. */
    @Nullable LockException loss(@Nullable Throwable failure);

    /**
     * Ends the waiting, and gives back what is held and what still arrives; may ask the broker. Does
     * nothing when called again.
     */
    void close();
  }

  private final Locks locks;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final Thread caller = Thread.currentThread();
  private final CallerLoader loader = CallerLoader.here();
  private final AtomicBoolean decided = new AtomicBoolean();
  private volatile @Nullable Future<?> cancellable;
  private volatile boolean over;

  /** A call under these locks, which are on their way. */
  public LaterCall(Locks locks) {
    this.locks = locks;
    var unused = result.whenComplete((value, failure) -> left());
  }

  /** What the caller has. */
  public CompletableFuture<T> result() {
    return result;
  }

  /** Takes that step on another thread than the caller's, which is not to be kept: this or a pool's. */
  public void offTheCaller(Runnable step) {
    if (Thread.currentThread().equals(caller)) {
      Background.tell(step);
    } else {
      step.run();
    }
  }

  /** The locks are had: begins the work, here. */
  public void work(GuardedCall<@Nullable CompletionStage<T>, Throwable> work) {
    if (decided.compareAndSet(false, true)) {
      begin(work, this::end);
    }
  }

  /** The locks are not had: begins this instead, elsewhere and without them. */
  public void instead(GuardedCall<@Nullable CompletionStage<T>, Throwable> other) {
    if (decided.compareAndSet(false, true)) {
      var unused =
          closed()
              .whenComplete(
                  (ignored, failure) -> {
                    if (failure == null) {
                      begin(other, this::tell);
                    } else {
                      tell(null, failure);
                    }
                  });
    }
  }

  /** The locks are not had, and that is what the caller hears. */
  public void fail(Throwable failure) {
    if (decided.compareAndSet(false, true)) {
      var unused = closed().whenComplete((ignored, another) -> tell(null, unwrapped(failure)));
    }
  }

  private CompletableFuture<@Nullable Void> closed() {
    return Background.call(
        () -> {
          locks.close();
          return null;
        });
  }

  private void begin(
      GuardedCall<@Nullable CompletionStage<T>, Throwable> work,
      BiConsumer<@Nullable T, @Nullable Throwable> end) {
    CompletionStage<T> stage = null;
    try {
      if (!result.isDone()) {
        stage = loader.call(work);
      }
    } catch (Throwable e) {
      end.accept(null, e);
      return;
    }
    if (stage == null) {
      end.accept(null, null);
      return;
    }
    cancellable = Cancelling.of(stage);
    if (result.isDone()) {
      cancel();
    }
    stage.whenComplete(
        (value, failure) -> end.accept(value, failure == null ? null : unwrapped(failure)));
  }

  /** In the background, since this may be anybody's thread. */
  private void end(@Nullable T value, @Nullable Throwable failure) {
    Background.run(
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
            tell(value, known);
          }
        });
  }

  @SuppressWarnings("NullAway") // null only where T allows it
  private void tell(@Nullable T value, @Nullable Throwable failure) {
    over = true;
    Background.tell(
        () -> {
          if (failure == null) {
            result.complete(value);
          } else {
            result.completeExceptionally(failure);
          }
        });
  }

  /** The caller's future is complete: if not by the end, the caller has given up. */
  private void left() {
    if (!over) {
      if (decided.compareAndSet(false, true)) {
        Background.run(locks::close);
      } else {
        cancel();
      }
    }
  }

  private void cancel() {
    Future<?> goingOn = cancellable;
    if (goingOn != null) {
      goingOn.cancel(true);
    }
  }

  /** What a stage failed with, without what the stages behind it wrapped it in. */
  public static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
