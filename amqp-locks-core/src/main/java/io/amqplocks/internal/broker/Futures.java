package io.amqplocks.internal.broker;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Bounded waits for the broker. */
public final class Futures {

  private Futures() {}

  /** Waits for the given time. An interrupt does not end the wait. */
  public static void pause(long nanos) {
    try {
      await(new CompletableFuture<Void>(), nanos);
    } catch (TimeoutException | ExecutionException e) {
      // The pause is over.
      return;
    }
  }

  /**
   * Waits for a permit, at most until the call ends. An interrupt does not end the wait, as with
   * all steps of a call.
   */
  public static boolean acquire(Semaphore permits, Call call) {
    return uninterruptibly(() -> permits.tryAcquire(call.remainingNanos(), TimeUnit.NANOSECONDS));
  }

  /** Waits for the result, at most for the given time. An interrupt does not end the wait. */
  public static <T> T await(Future<T> future, long nanos)
      throws ExecutionException, TimeoutException {
    long end = System.nanoTime() + nanos;
    return Futures.<T, ExecutionException, TimeoutException>uninterruptibly(
        () -> future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
  }

  /**
   * What another thread is just about to complete the future with; or that value if it is not, or
   * does not within a second.
   */
  public static <T> T imminent(boolean isImminent, Future<T> future, T otherwise) {
    try {
      return isImminent || future.isDone() ? await(future, 1_000_000_000) : otherwise;
    } catch (ExecutionException | TimeoutException e) {
      return otherwise;
    }
  }

  /**
   * Waits to the end, even if the thread is interrupted, because the state at the broker would then
   * be unknown. The interrupt flag is set again at the end.
   *
   * @param wait is begun again after an interrupt, and then waits for what is left of its time
   */
  static <T, E extends Exception, F extends Exception> T uninterruptibly(Wait<T, E, F> wait)
      throws E, F {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A wait that an interrupt ends. */
  @FunctionalInterface
  interface Wait<T, E extends Exception, F extends Exception> {
    T get() throws InterruptedException, E, F;
  }
}
