package io.amqplocks.inmemory;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the user's code. Listeners are called one at a time on a thread of their own, and what
 * depends on a loss on another one, as at a broker. Observers are called on the thread of the call.
 * A failure of the user's code is logged.
 */
final class Notices {

  private static final Logger log = LoggerFactory.getLogger(Notices.class);

  private final Object closing = new Object();
  private final List<LockListener> listeners;
  private final List<LockObserver> observers;
  private final OneThread listening = new OneThread("notices");
  private final OneThread depending = new OneThread("losses");

  Notices(List<LockListener> listeners, List<LockObserver> observers) {
    this.listeners = List.copyOf(listeners);
    this.observers = List.copyOf(observers);
  }

  /** A thread, which ends when there is nothing to do and is replaced when there is. */
  private static final class OneThread extends ThreadPoolExecutor {

    private volatile @Nullable Thread current;
    private volatile boolean closes;

    OneThread(String name) {
      super(0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Threads.named(name));
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

  /**
   * Notifies all listeners later. As one piece: if the first listener closes the locks, the others
   * are told all the same.
   */
  void post(Consumer<LockListener> notice) {
    if (!listeners.isEmpty()) {
      run(() -> listeners.forEach(listener -> guarded(() -> notice.accept(listener))));
    }
  }

  /**
   * Notifies of the loss of a lease later: who depends on it, its observers, and all listeners.
   * Whoever hears of it first may close the locks. The others are told all the same.
   */
  void postLoss(Runnable dependent, Runnable observer, Consumer<LockListener> notice) {
    synchronized (closing) {
      runDependent(dependent);
      run(observer);
      post(notice);
    }
  }

  /** Runs a piece of the user's code later, in order with the other notices. */
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

  /** Notifies the observers that a call begins on this thread. */
  Attempts begin(LockId lock) {
    return new Attempts(
        map(observers, observer -> observer.begin(lock), LockObserver.Attempt.NO_OP));
  }

  /**
   * What follows one call.
   *
   * @param each one for each observer
   */
  record Attempts(List<LockObserver.Attempt> each) {
    Holds acquired(InMemoryLease lease) {
      return new Holds(map(each, attempt -> attempt.acquired(lease), LockObserver.Hold.NO_OP));
    }

    void notAcquired(Consumer<LockObserver.Attempt> notice) {
      each.forEach(attempt -> guarded(() -> notice.accept(attempt)));
    }
  }

  /**
   * What follows one lease.
   *
   * @param each one for each observer
   */
  record Holds(List<LockObserver.Hold> each) {
    static final Holds NONE = new Holds(List.of());

    void ended(Consumer<LockObserver.Hold> notice) {
      each.forEach(hold -> guarded(() -> notice.accept(hold)));
    }
  }

  private static <S, T> List<T> map(List<S> sources, Function<S, T> call, T otherwise) {
    return sources.stream().map(source -> guarded(call, source, otherwise)).toList();
  }

  private static <S, T> T guarded(Function<S, T> call, S source, T otherwise) {
    try {
      return call.apply(source);
    } catch (RuntimeException | Error e) {
      log.warn("A lock observer failed; the lock is not affected", e);
      return otherwise;
    }
  }

  private static void guarded(Runnable notice) {
    try {
      notice.run();
    } catch (Throwable e) {
      // One in Kotlin may throw anything. The others are told all the same.
      log.warn("A listener or observer failed; the lock is not affected", e);
    }
  }

  /**
   * Delivers what was posted, but waits no longer than a second for each thread. If the user's code
   * calls this, its thread delivers the rest when that code has returned.
   */
  void close() {
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
