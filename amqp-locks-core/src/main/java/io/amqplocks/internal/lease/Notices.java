package io.amqplocks.internal.lease;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the user's code what happened: one notice at a time, in the order posted, on a thread of its
 * own, so that slow or failing listeners hurt no lock. The thread goes when there is nothing to tell.
 */
public final class Notices implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Notices.class);

  /** How many notices may wait; a lost lease's own notice always may. */
  private static final int MOST = 10_000;

  private final AtomicLong dropped = new AtomicLong();
  private final List<LockListener> listeners;
  private final LockListener recorder;
  private final LockObserver observer;
  private final ThreadPoolExecutor thread;

  /**
   * Notices to those listeners.
   *
   * @param recorder hears of losses only, at once and before all others; must not block or fail
   */
  public Notices(List<LockListener> listeners, LockListener recorder, ThreadFactory threads) {
    this(listeners, recorder, List.of(), threads);
  }

  /**
   * The same, and word to observers.
   *
   * @param observers follow calls and leases, on their threads
   */
  public Notices(
      List<LockListener> listeners,
      LockListener recorder,
      List<LockObserver> observers,
      ThreadFactory threads) {
    this.listeners = List.copyOf(listeners);
    this.recorder = recorder;
    observer = Observers.of(observers);
    thread =
        new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
  }

  /** A call for that lock begins in this thread. */
  public LockObserver.Attempt begin(LockId lock) {
    return observer.begin(lock);
  }

  /** Tells all listeners, later; not if they are so far behind that memory would suffer. */
  public void post(Consumer<LockListener> notice) {
    if (thread.getQueue().size() >= MOST) {
      if (dropped.getAndIncrement() % MOST == 0) {
        log.warn("Lock listeners are too slow; notices are dropped, {} so far", dropped);
      }
      return;
    }
    postAlways(notice);
  }

  /** Tells all listeners of a loss, later, however far behind they are. */
  void postLoss(Consumer<LockListener> notice) {
    notice.accept(recorder);
    postAlways(notice);
  }

  private void postAlways(Consumer<LockListener> notice) {
    for (LockListener listener : listeners) {
      run(() -> notice.accept(listener));
    }
  }

  /** Runs a piece of the user's code, later, in order with the rest. */
  void run(Runnable notice) {
    try {
      thread.execute(() -> guarded(notice));
    } catch (RejectedExecutionException e) {
      log.debug("Closed; a notice is not delivered");
    }
  }

  private static void guarded(Runnable notice) {
    try {
      notice.run();
    } catch (RuntimeException e) {
      log.warn("A lock listener failed; the lock is not affected", e);
    }
  }

  /** Delivers what was posted, but waits no longer than a second for it. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      if (!thread.awaitTermination(1, TimeUnit.SECONDS)) {
        log.warn("A lock listener blocks; {} notices are not delivered", thread.getQueue().size());
        thread.shutdownNow();
      }
    } catch (InterruptedException e) {
      thread.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
