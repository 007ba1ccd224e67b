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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events to the user's code: one at a time, in the order in which they were posted, on a
 * thread of its own. So slow or failing listeners do not harm any lock. What depends on the loss of
 * a lease is run on another one: a listener that blocks does not keep those who work from being
 * told to stop. The threads end when there is nothing to deliver.
 */
public final class EventDispatcher implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EventDispatcher.class);

  /** How many events may be pending. The loss of a lease is delivered even above this limit. */
  private static final int MOST = 10_000;

  private final Object closing = new Object();
  private final AtomicLong dropped = new AtomicLong();
  private final List<LockListener> listeners;
  private final LockListener recorder;
  private final LockObserver observer;
  private final OneThread listening;
  private final OneThread depending;

  /**
   * Creates a dispatcher for listeners.
   *
   * @param recorder is notified of losses only, at once and before all listeners; must not block or
   *     fail
   */
  public EventDispatcher(
      List<LockListener> listeners, LockListener recorder, ThreadFactory threads) {
    this(listeners, recorder, List.of(), threads);
  }

  /**
   * Creates a dispatcher for listeners and observers.
   *
   * @param observers follow calls and leases, on the threads of the callers except for a loss
   */
  public EventDispatcher(
      List<LockListener> listeners,
      LockListener recorder,
      List<LockObserver> observers,
      ThreadFactory threads) {
    this.listeners = List.copyOf(listeners);
    this.recorder = recorder;
    observer = CompositeObserver.of(observers);
    listening = new OneThread(threads);
    depending = new OneThread(threads);
  }

  /** A thread, which ends when there is nothing to do and is replaced when there is. */
  private static final class OneThread extends ThreadPoolExecutor {

    private volatile @Nullable Thread current;
    private volatile boolean closes;

    OneThread(ThreadFactory threads) {
      super(0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
    }

    @Override
    protected void beforeExecute(Thread thread, Runnable notice) {
      current = thread;
    }

    /** Notes it if the user's code calls this, which goes on then, and waits for the other one. */
    void noteClose() {
      if (Thread.currentThread().equals(current)) {
        closes = true;
      }
    }

    /** Returns how many notices are not delivered by this. Whoever closes goes on. */
    int stop() {
      return closes ? 0 : shutdownNow().size();
    }

    /** Whether it has ended, or will end without being waited for. */
    boolean awaitEnd() throws InterruptedException {
      return closes || awaitTermination(1, TimeUnit.SECONDS) || closes;
    }
  }

  /** Notifies the observers that a call for that lock begins on this thread. */
  public LockObserver.Attempt begin(LockId lock) {
    return observer.begin(lock);
  }

  /**
   * Notifies all listeners later. Drops the event if they are so far behind that memory would
   * suffer.
   */
  public void post(Consumer<LockListener> notice) {
    if (listening.getQueue().size() >= MOST) {
      if (dropped.getAndIncrement() % MOST == 0) {
        log.warn("Lock listeners are too slow; notices are dropped, {} so far", dropped);
      }
      return;
    }
    postAlways(notice);
  }

  /**
   * Notifies of the loss of a lease later: who depends on it, its observer, and all listeners,
   * however far behind they are. The recorder is notified at once.
   */
  void postLoss(Runnable dependent, Runnable observer, Consumer<LockListener> notice) {
    notice.accept(recorder);
    // Whoever hears of it first may close this. The others are told all the same.
    synchronized (closing) {
      runDependent(dependent);
      run(observer);
      postAlways(notice);
    }
  }

  // As one piece: if the first listener closes this, the others are told all the same.
  private void postAlways(Consumer<LockListener> notice) {
    if (!listeners.isEmpty()) {
      run(() -> listeners.forEach(listener -> guarded(() -> notice.accept(listener))));
    }
  }

  /** Whether anybody hears of the events. */
  boolean isHeard() {
    return !recorder.equals(LockListener.NO_OP);
  }

  /** Runs a piece of the user's code later, in order with the other events. */
  void run(Runnable notice) {
    run(listening, notice);
  }

  /** Runs later what depends on the loss of a lease, whatever the listeners do. */
  void runDependent(Runnable notice) {
    run(depending, notice);
  }

  private static void run(OneThread thread, Runnable notice) {
    try {
      thread.execute(() -> guarded(notice));
    } catch (RejectedExecutionException e) {
      log.debug("Closed; a notice is not delivered");
    } catch (OutOfMemoryError e) {
      // The notice is in the queue by now, and the next one starts the thread.
      log.error("No thread can be started now; a notice is delivered with the next one", e);
    }
  }

  private static void guarded(Runnable notice) {
    try {
      notice.run();
    } catch (Throwable e) {
      // One in Kotlin may throw anything. The others are told all the same.
      log.warn("A lock listener failed; the lock is not affected", e);
    }
  }

  /**
   * Delivers the posted events, but waits no longer than a second for each thread. If the user's
   * code calls this, its thread delivers the rest when that code has returned. A listener that
   * blocks for longer is interrupted, and the others are told of the same event after it.
   */
  @Override
  public void close() {
    synchronized (closing) {
      listening.shutdown();
      depending.shutdown();
    }
    listening.noteClose();
    depending.noteClose();
    try {
      awaitEnd(depending, "An action that depends on the loss of a lease");
      awaitEnd(listening, "A lock listener");
    } catch (InterruptedException e) {
      int left = listening.stop() + depending.stop();
      log.debug("Interrupted while it closed; {} notices are not delivered", left);
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitEnd(OneThread thread, String who) throws InterruptedException {
    if (!thread.awaitEnd()) {
      log.warn("{} blocks; {} notices are not delivered", who, thread.stop());
    }
  }
}
