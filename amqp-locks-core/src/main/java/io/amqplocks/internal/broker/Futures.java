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
   * all steps of a call. The interrupt flag is set again at the end.
   */
  public static boolean acquire(Semaphore permits, Call call) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return permits.tryAcquire(call.remainingNanos(), TimeUnit.NANOSECONDS);
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

  /**
   * Waits for the result, at most for the given time. An interrupt does not end the wait, because
   * the state at the broker would then be unknown. The interrupt flag is set again at the end.
   */
  public static <T> T await(Future<T> future, long nanos)
      throws ExecutionException, TimeoutException {
    long end = System.nanoTime() + nanos;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
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
}
