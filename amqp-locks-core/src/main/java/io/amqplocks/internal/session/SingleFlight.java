package io.amqplocks.internal.session;

import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Something that many use and one at a time opens: at first need, and again when the last one is over. After
 * an opening that failed the next one lets some time pass, more and more of it and at random, so the broker
 * meets few attempts however many callers there are, and those of many processes do not come at once. After
 * one that succeeded and was over at once, it lets the shortest pause pass.
 *
 * <p>Concurrency: the reference holds a flight. Whoever replaces an absent, failed or used-up one by its
 * own, by compare-and-set, has a thread of the library open it; all callers wait for its future, each
 * within its own bound, and no lock is held meanwhile. What was opened belongs to whoever completes the
 * future: if the thread that opened finds it completed, somebody has closed the whole meanwhile, and it
 * disposes of what it has; if the close finds it completed, the close does. So nothing is left open.
 */
final class SingleFlight<T> {

  /** Between two openings at least. */
  static final Duration SHORTEST = Duration.ofMillis(100);

  /** At most, for callers that are patient enough. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  private final Predicate<T> usable;
  private final Consumer<T> disposal;
  private final BiFunction<Call, Exception, LockException> translation;
  private final ThreadFactory threads;
  private final long longest;
  private final AtomicReference<@Nullable Flight<T>> current = new AtomicReference<>();
  private volatile boolean closed;

  /**
   * Nothing is open yet.
   *
   * @param usable whether what was opened is still good
   * @param disposal what to do with what was opened for nobody any more; must not throw
   * @param translation what a caller is told when opening failed, whoever opened
   * @param threads who opens
   * @param patience how long a caller waits, so that each sees an attempt of its own time
   */
  SingleFlight(
      Predicate<T> usable,
      Consumer<T> disposal,
      BiFunction<Call, Exception, LockException> translation,
      ThreadFactory threads,
      Duration patience) {
    this.usable = usable;
    this.disposal = disposal;
    this.translation = translation;
    this.threads = threads;
    longest =
        Math.max(SHORTEST.toNanos(), Math.min(LONGEST.toNanos(), patience.dividedBy(2).toNanos()));
  }

  /**
   * One opening, from the pause before it to what came of it. What the next one needs to know is written
   * before the result.
   */
  private static final class Flight<T> {
    final CompletableFuture<T> result = new CompletableFuture<>();
    final long begins;
    final @Nullable Exception lastFailure;
    final long pause;
    long nextPause;
    long nextBegins;

    Flight(long begins, long pause, @Nullable Exception lastFailure) {
      this.begins = begins;
      this.pause = pause;
      this.lastFailure = lastFailure;
    }

    Flight<T> next() {
      return new Flight<>(nextBegins, nextPause, failure());
    }

    /** Why it failed; null if it did not. */
    @Nullable Exception failure() {
      try {
        T unused = result.getNow(null);
        return null;
      } catch (CompletionException e) {
        return e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  /** The open one; opens it if there is none. */
  T get(Call call, Callable<T> opening) {
    while (true) {
      Flight<T> present = current.get();
      if (present != null && !isOver(present)) {
        return await(call, present);
      }
      Flight<T> next = present == null ? new Flight<>(System.nanoTime(), 0, null) : present.next();
      if (current.compareAndSet(present, next)) {
        if (closed) {
          // Whoever closed may have looked before this one was there.
          end(next);
        } else {
          threads.newThread(() -> open(opening, next)).start();
        }
        return await(call, next);
      }
    }
  }

  /** What is open now. */
  Optional<T> ifOpen() {
    Flight<T> present = current.get();
    return present == null || !present.result.isDone() || isOver(present)
        ? Optional.empty()
        : Optional.of(present.result.join());
  }

  /** For how long an opening is put off, or would be if somebody asked now. */
  long pauseNanos() {
    Flight<T> present = current.get();
    if (present == null) {
      return 0;
    }
    long begins = isOver(present) ? present.nextBegins : present.begins;
    return Math.max(0, begins - System.nanoTime());
  }

  /** Nothing is opened any more; what is open, or is being opened, is disposed of. */
  void close() {
    closed = true;
    Flight<T> present = current.get();
    if (present != null) {
      end(present);
    }
  }

  private void end(Flight<T> flight) {
    if (!flight.result.completeExceptionally(new IllegalStateException("closed by this process"))
        && !flight.result.isCompletedExceptionally()) {
      disposal.accept(flight.result.join());
    }
  }

  private void open(Callable<T> opening, Flight<T> flight) {
    pause(flight);
    try {
      T opened = flight.result.isDone() ? null : opening.call();
      if (opened != null) {
        settle(flight, SHORTEST.toNanos());
        if (!flight.result.complete(opened)) {
          disposal.accept(opened);
        }
      }
    } catch (Throwable e) {
      long upper = Math.min(longest, Math.max(SHORTEST.toNanos(), flight.pause) * 3);
      settle(flight, ThreadLocalRandom.current().nextLong(SHORTEST.toNanos(), upper + 1));
      flight.result.completeExceptionally(e);
      if (e instanceof Error error) {
        throw error;
      }
    }
  }

  /** Less, if it is closed in the meantime. */
  private static void pause(Flight<?> flight) {
    try {
      var unused = flight.result.get(flight.begins - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // The pause is over.
      return;
    } catch (InterruptedException e) {
      // Nobody else knows this thread.
      Thread.currentThread().interrupt();
    }
  }

  private static void settle(Flight<?> flight, long pause) {
    flight.nextPause = pause;
    flight.nextBegins = System.nanoTime() + pause;
  }

  private T await(Call call, Flight<T> flight) {
    try {
      return Futures.await(flight.result, call.remainingNanos());
    } catch (TimeoutException e) {
      Exception last = flight.lastFailure;
      throw last == null ? call.unanswered("open a connection") : translation.apply(call, last);
    } catch (ExecutionException e) {
      throw translation.apply(call, e.getCause() instanceof Exception cause ? cause : e);
    }
  }

  private boolean isOver(Flight<T> present) {
    return present.result.isCompletedExceptionally()
        || (present.result.isDone() && !usable.test(present.result.join()));
  }
}
