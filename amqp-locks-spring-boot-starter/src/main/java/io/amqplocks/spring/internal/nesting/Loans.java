package io.amqplocks.spring.internal.nesting;

import io.amqplocks.spring.internal.async.BackgroundExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Shares the permits of one lease out among nested calls that may run in parallel: of a mutex, to
 * one at a time. First come, first served.
 *
 * <p>Concurrency: all state is under the lock. Futures are completed, and the end is run, without
 * it. A loan counts from the moment at which it leaves the queue. If its future was completed by
 * others in between, because the caller gave up, the loan goes back. A caller that gives up earlier
 * takes itself out of the queue. The end runs once: when it was asked for, nothing is lent, and
 * nobody waits. After that nothing is lent any more.
 */
final class Loans {

  private final int all;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Waiter> waiting = new ArrayDeque<>();
  private int free;
  private boolean over;
  private @Nullable Runnable end;

  private record Waiter(int permits, CompletableFuture<Boolean> granted) {}

  Loans(int permits) {
    all = permits;
    free = permits;
  }

  /**
   * Borrows permits. Cancelling the future gives up.
   *
   * @param permits at most as many as the lease has
   * @return completes when they are lent; null if the lease has ended
   */
  @Nullable CompletableFuture<Boolean> borrow(int permits) {
    CompletableFuture<Boolean> granted = new CompletableFuture<>();
    Waiter waiter = new Waiter(permits, granted);
    lock.lock();
    try {
      if (over) {
        return null;
      }
      if (waiting.isEmpty() && free >= permits) {
        free -= permits;
        return CompletableFuture.completedFuture(true);
      }
      waiting.add(waiter);
    } finally {
      lock.unlock();
    }
    var unused =
        granted.whenComplete(
            (done, failure) -> {
              if (failure != null) {
                change(() -> waiting.remove(waiter));
              }
            });
    return granted;
  }

  /** Returns borrowed permits. */
  void giveBack(int permits) {
    change(() -> free += permits);
  }

  /** Runs the action when all permits are back and nobody waits for one. */
  void end(Runnable action) {
    change(() -> end = action);
  }

  private void change(Runnable step) {
    List<Waiter> served = new ArrayList<>();
    Runnable last = null;
    lock.lock();
    try {
      step.run();
      for (Waiter next = waiting.peek();
          next != null && free >= next.permits;
          next = waiting.peek()) {
        free -= next.permits;
        served.add(waiting.remove());
      }
      if (end != null && !over && free == all && waiting.isEmpty()) {
        over = true;
        last = end;
      }
    } finally {
      lock.unlock();
    }
    served.forEach(waiter -> BackgroundExecutor.deliver(() -> grant(waiter)));
    if (last != null) {
      last.run();
    }
  }

  private void grant(Waiter waiter) {
    if (!waiter.granted.complete(true)) {
      giveBack(waiter.permits);
    }
  }
}
