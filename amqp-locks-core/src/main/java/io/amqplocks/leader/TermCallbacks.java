package io.amqplocks.leader;

import io.amqplocks.internal.broker.FailureLog;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the listeners and the task of an election.
 *
 * <p>Concurrency: listeners are called by one thread, in the order in which the contender submits,
 * so a grant comes before its revocation. That thread starts the task after the grant, under the
 * guard and only if the term has not ended. The contender ends the term before it interrupts the
 * task under the same guard. So a task is either interrupted or not started.
 */
final class TermCallbacks {

  private static final Logger log = LoggerFactory.getLogger(TermCallbacks.class);

  private final String name;
  private final List<LeaderListener> listeners;
  private final @Nullable LeaderTask task;
  private final BiConsumer<Leadership, String> taskEnded;
  private final ThreadPoolExecutor calls;
  private final ReentrantLock guard = new ReentrantLock();
  private volatile @Nullable Thread caller;
  private volatile @Nullable Thread worker;
  private volatile CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

  /**
   * Creates callbacks.
   *
   * @param taskEnded is told of a task that ended by itself, and how
   */
  TermCallbacks(
      String name,
      List<LeaderListener> listeners,
      @Nullable LeaderTask task,
      BiConsumer<Leadership, String> taskEnded) {
    this.name = name;
    this.listeners = new CopyOnWriteArrayList<>(listeners);
    this.task = task;
    this.taskEnded = taskEnded;
    calls =
        new ThreadPoolExecutor(
            1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), this::newCaller);
  }

  /** Starts the thread that calls the listeners, unless it runs. No grant waits for that then. */
  void prepare() {
    try {
      boolean unused = calls.prestartCoreThread();
    } catch (Error e) {
      log.debug("{} has no thread for its listeners yet; a grant starts one", name, e);
    }
  }

  private Thread newCaller(Runnable calling) {
    Thread thread = newThread(calling, " listeners");
    caller = thread;
    return thread;
  }

  private Thread newThread(Runnable work, String suffix) {
    Thread thread = new Thread(work, name + suffix);
    thread.setDaemon(true);
    return thread;
  }

  /** Adds a listener behind the others. */
  void add(LeaderListener listener) {
    listeners.add(listener);
  }

  void remove(LeaderListener listener) {
    listeners.remove(listener);
  }

  /** Has the listeners told of a new term, and the task begun. Does not wait. */
  void granted(Leadership term) {
    last =
        CompletableFuture.runAsync(
            () -> {
              tellEach(listener -> listener.granted(term));
              startTask(term);
            },
            calls);
  }

  /**
   * Has the task interrupted and the listeners told of the end of a term, and waits until both have
   * ended.
   *
   * @return whether they have, within that time
   */
  boolean revoked(Leadership term, Revocation why, long graceNanos) {
    long end = System.nanoTime() + graceNanos;
    interruptTask();
    last = CompletableFuture.runAsync(() -> tellEach(each -> each.revoked(term, why)), calls);
    try {
      last.get(graceNanos, TimeUnit.NANOSECONDS);
      Thread working = worker;
      if (working != null) {
        TimeUnit.NANOSECONDS.timedJoin(working, Math.max(1, end - System.nanoTime()));
      }
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      // What has ended is looked at below.
    }
    return areIdle();
  }

  /** Whether no listener and no task is at work. */
  boolean areIdle() {
    Thread working = worker;
    return last.isDone() && (working == null || !working.isAlive());
  }

  /** Whether a listener or the task is called by that thread. */
  boolean isOwnThread(Thread thread) {
    return thread.equals(caller) || thread.equals(worker);
  }

  /** Calls nobody any more, after what was submitted. */
  void close() {
    calls.shutdown();
  }

  private void tellEach(Consumer<LeaderListener> call) {
    for (LeaderListener listener : listeners) {
      if (!listeners.contains(listener)) {
        continue; // it was removed meanwhile
      }
      try {
        call.accept(listener);
      } catch (Exception | Error e) {
        // Kotlin, for one, lets a checked exception pass.
        FailureLog.write(
            () -> log.warn("A listener of {} failed; the election is not affected", name, e));
      }
    }
  }

  private void startTask(Leadership term) {
    LeaderTask work = task;
    guard.lock();
    try {
      if (work != null && term.revocation().isEmpty()) {
        Thread thread = newThread(() -> run(work, term), " task");
        // Before it starts, or a task that closes the election at once would wait for itself.
        worker = thread;
        thread.start();
      }
    } catch (Error e) {
      taskEnded.accept(term, "its task could not be started: " + e);
      FailureLog.write(
          () -> log.warn("The task of {} could not be started; leadership is given up", name, e));
    } finally {
      guard.unlock();
    }
  }

  private void interruptTask() {
    guard.lock();
    try {
      Thread working = worker;
      if (working != null) {
        working.interrupt();
      }
    } finally {
      guard.unlock();
    }
  }

  private void sayFailed(Leadership term, Throwable e) {
    if (term.revocation().isEmpty()) {
      log.warn("The task of {} failed; leadership is given up", name, e);
    } else {
      log.debug("The task of {} failed after its term had ended", name, e);
    }
  }

  private void run(LeaderTask work, Leadership term) {
    String how = "its task returned";
    try {
      work.run(term);
    } catch (InterruptedException e) {
      how = "its task was interrupted";
    } catch (Exception | Error e) {
      how = "its task failed: " + FailureLog.text(e);
      FailureLog.write(() -> sayFailed(term, e));
    } finally {
      taskEnded.accept(term, how);
    }
  }
}
