package io.amqplocks.internal.session;

import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Something that many use and one at a time opens: at first need, and again when the last one is over.
 *
 * <p>Concurrency: the reference holds a future. Whoever replaces an absent, failed or used-up one by
 * its own, by compare-and-set, opens; all others wait for that future, each within its own bound. So
 * one at most is being opened, no lock is held meanwhile, and whatever the opening throws completes the
 * future.
 */
final class SingleFlight<T> {

  private final Predicate<T> usable;
  private final BiFunction<Call, Exception, LockException> translation;
  private final AtomicReference<@Nullable CompletableFuture<T>> current = new AtomicReference<>();

  /**
   * Nothing is open yet.
   *
   * @param usable whether what was opened is still good
   * @param translation what a caller is told when opening failed, whoever opened
   */
  SingleFlight(Predicate<T> usable, BiFunction<Call, Exception, LockException> translation) {
    this.usable = usable;
    this.translation = translation;
  }

  /** The open one; opens it if there is none. */
  T get(Call call, Callable<T> opening) {
    while (true) {
      CompletableFuture<T> present = current.get();
      if (present != null && !isOver(present)) {
        return await(call, present);
      }
      CompletableFuture<T> mine = new CompletableFuture<>();
      if (current.compareAndSet(present, mine)) {
        open(opening, mine);
        return await(call, mine);
      }
    }
  }

  /** What is open now. */
  Optional<T> ifOpen() {
    CompletableFuture<T> present = current.get();
    return present == null || !present.isDone() || isOver(present)
        ? Optional.empty()
        : Optional.of(present.join());
  }

  private void open(Callable<T> opening, CompletableFuture<T> mine) {
    try {
      mine.complete(opening.call());
    } catch (Throwable e) {
      mine.completeExceptionally(e);
      if (e instanceof Error error) {
        throw error;
      }
    }
  }

  private T await(Call call, CompletableFuture<T> opened) {
    try {
      return Futures.await(opened, call.remainingNanos());
    } catch (TimeoutException e) {
      throw call.unanswered("open a connection");
    } catch (ExecutionException e) {
      throw translation.apply(call, e.getCause() instanceof Exception cause ? cause : e);
    }
  }

  private boolean isOver(CompletableFuture<T> present) {
    return present.isCompletedExceptionally() || (present.isDone() && !usable.test(present.join()));
  }
}
