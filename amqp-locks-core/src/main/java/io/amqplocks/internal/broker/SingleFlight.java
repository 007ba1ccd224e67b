package io.amqplocks.internal.broker;

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
 * A shared resource that one thread at a time opens: at first use, and again after the last one
 * ended. After a failed attempt the next one waits for a random pause, which grows. So the broker
 * receives few attempts however many callers there are, and attempts of many processes are spread.
 * If a resource ended as soon as it was opened, the next attempt waits for the shortest pause.
 *
 * <p>Concurrency: the reference holds a flight. The caller that replaces an absent, failed or
 * used-up flight by its own, by compare-and-set, has a thread of the library open the resource. All
 * callers wait for the flight's future, each within its own bound, and no lock is held in the
 * meantime. The opened resource belongs to the thread that completes the future. If the opening
 * thread finds the future completed, the whole was closed in the meantime, and the opening thread
 * disposes of the resource. If the close finds the future completed, the close disposes of the
 * resource. So nothing is left open.
 */
public final class SingleFlight<T> {

  /** The shortest time between two attempts. */
  static final Duration SHORTEST = Duration.ofMillis(100);

  /** The longest pause, for callers that wait long enough. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  private final Predicate<T> usable;
  private final Consumer<T> disposal;
  private final BiFunction<Call, Exception, LockException> translation;
  private final ThreadFactory threads;
  private final Ticker ticker;
  private final long longest;
  private final AtomicReference<@Nullable Flight<T>> current = new AtomicReference<>();
  private volatile boolean closed;

  /**
   * Does not open anything yet.
   *
   * @param usable whether an opened resource is still usable
   * @param disposal disposes of a resource that nobody uses any more; must not throw
   * @param translation translates a failure for each caller, whichever caller opened
   * @param threads creates the opening thread
   * @param callerTimeout how long a caller waits, so that each caller sees an attempt within its
   *     own time
   * @param ticker the time
   */
  SingleFlight(
      Predicate<T> usable,
      Consumer<T> disposal,
      BiFunction<Call, Exception, LockException> translation,
      ThreadFactory threads,
      Duration callerTimeout,
      Ticker ticker) {
    this.usable = usable;
    this.disposal = disposal;
    this.translation = translation;
    this.threads = threads;
    this.ticker = ticker;
    longest =
        Math.max(
            SHORTEST.toNanos(), Math.min(LONGEST.toNanos(), callerTimeout.dividedBy(2).toNanos()));
  }

  /**
   * One attempt, from the pause before it to its result. The fields for the next attempt are
   * written before the result.
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

    /** The failure of the attempt; null if it did not fail. */
    @Nullable Exception failure() {
      try {
        T unused = result.getNow(null);
        return null;
      } catch (CompletionException e) {
        return e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  /** The open resource; opens it if there is none. */
  public T get(Call call, Callable<T> opening) {
    try {
      return open(call, opening);
    } catch (SharedFailure e) {
      throw e.to(call);
    }
  }

  /** As {@link #get}, for a caller that itself opens something for others. */
  T open(Call call, Callable<T> opening) throws SharedFailure {
    while (true) {
      Flight<T> present = current.get();
      if (present != null && !isOver(present)) {
        return await(call, present);
      }
      Flight<T> next = present == null ? new Flight<>(ticker.nanos(), 0, null) : present.next();
      if (current.compareAndSet(present, next)) {
        if (closed) {
          // The close may have looked before this flight was there.
          end(next);
        } else {
          start(opening, next);
        }
        return await(call, next);
      }
    }
  }

  /**
   * The open resource, for a caller that waits for no attempt but its own. While another attempt
   * follows a failed one, or the pause before it lasts, this throws that failure at once.
   */
  public T getUnlessFailing(Call call, Callable<T> opening) {
    requireNotFailing(call);
    return get(call, opening);
  }

  /** Throws the {@link #failure}, if there is one. */
  public void requireNotFailing(Call call) {
    Optional<LockException> failure = failure(call);
    if (failure.isPresent()) {
      throw failure.get();
    }
  }

  /** The failure of the last attempt, as long as no other one may begin or has ended. */
  public Optional<LockException> failure(Call call) {
    Flight<T> present = current.get();
    Exception failure = present == null ? null : knownFailure(present);
    return failure == null ? Optional.empty() : Optional.of(shared(failure).to(call));
  }

  private @Nullable Exception knownFailure(Flight<T> present) {
    if (!present.result.isDone()) {
      return present.lastFailure;
    }
    return isOver(present) && present.nextBegins - ticker.nanos() > 0 ? present.failure() : null;
  }

  /** The resource if it is open now. */
  public Optional<T> ifOpen() {
    Flight<T> present = current.get();
    return present == null || !present.result.isDone() || isOver(present)
        ? Optional.empty()
        : Optional.of(present.result.join());
  }

  /**
   * Lets the next caller open another one, if this is the open resource. The caller of this method
   * disposes of it.
   *
   * @return false if it is not the open resource any more
   */
  boolean retire(T resource) {
    Flight<T> present = current.get();
    return present != null
        && present.result.isDone()
        && !present.result.isCompletedExceptionally()
        && present.result.join().equals(resource)
        && current.compareAndSet(present, null);
  }

  /** The pause before the present attempt begins, or before the next one would begin. */
  public long pauseNanos() {
    Flight<T> present = current.get();
    if (present == null) {
      return 0;
    }
    long begins = isOver(present) ? present.nextBegins : present.begins;
    return Math.max(0, begins - ticker.nanos());
  }

  /**
   * Disposes of the open resource, or of the one that is being opened. Nothing is opened any more.
   */
  public void close() {
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

  private void start(Callable<T> opening, Flight<T> flight) {
    try {
      threads.newThread(() -> open(opening, flight)).start();
    } catch (RuntimeException | Error e) {
      // No thread can be started now. Nobody else would end this flight.
      failed(flight, e);
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
      failed(flight, e);
      if (e instanceof Error error) {
        throw error;
      }
    }
  }

  private void failed(Flight<T> flight, Throwable failure) {
    long upper = Math.min(longest, Math.max(SHORTEST.toNanos(), flight.pause) * 3);
    settle(flight, ThreadLocalRandom.current().nextLong(SHORTEST.toNanos(), upper + 1));
    flight.result.completeExceptionally(failure);
  }

  /** Waits for the pause of the flight, or less if it is closed in the meantime. */
  private void pause(Flight<?> flight) {
    try {
      var unused = flight.result.get(flight.begins - ticker.nanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // The pause is over.
      return;
    } catch (InterruptedException e) {
      // No other code can observe this thread's interrupt flag.
      Thread.currentThread().interrupt();
    }
  }

  private void settle(Flight<?> flight, long pause) {
    flight.nextPause = pause;
    flight.nextBegins = ticker.nanos() + pause;
  }

  private T await(Call call, Flight<T> flight) throws SharedFailure {
    try {
      return Futures.await(flight.result, call.remainingNanos());
    } catch (TimeoutException e) {
      Exception last = flight.lastFailure;
      throw last == null
          ? new SharedFailure(each -> each.unanswered("open a connection"))
          : shared(last);
    } catch (ExecutionException e) {
      throw shared(e.getCause() instanceof Exception cause ? cause : e);
    }
  }

  private SharedFailure shared(Exception failure) {
    return failure instanceof SharedFailure known
        ? known
        : new SharedFailure(call -> translation.apply(call, failure));
  }

  private boolean isOver(Flight<T> present) {
    return present.result.isCompletedExceptionally()
        || (present.result.isDone() && !usable.test(present.result.join()));
  }
}
