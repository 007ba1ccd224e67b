package io.amqplocks;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A pool with few threads that doubles, up to a limit, for as long as tasks wait and none ends. In
 * that case its threads wait for a broker that does not reply, and a task whose queue works must
 * not wait for them. The few threads suffice for any number of quick tasks. If the system lets the
 * process start no thread for a while, tasks wait for one.
 *
 * <p>Concurrency: at most one check of the pool is scheduled at any time. A thread that adds a task
 * sets a mark and schedules a check, unless the mark is set. The check clears the mark only when no
 * task waits, and then looks once more. So a task that arrives in between either finds the mark
 * cleared, or is found by that last look.
 */
final class GrowingPool extends ThreadPoolExecutor {

  /** A task that has not ended after this time is waiting for the broker. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);

  private static final long IDLE_SECONDS = 10;

  private final int few;
  private final ScheduledExecutorService timer;
  private final AtomicBoolean looking = new AtomicBoolean();
  private final AtomicLong ended = new AtomicLong();

  /**
   * Creates a pool without threads.
   *
   * @param few the maximum number of threads while tasks end
   * @param most the maximum number of threads
   * @param timer schedules the checks
   * @param afterShutdown what to do with tasks that are added after the shutdown
   */
  GrowingPool(
      int few,
      int most,
      ThreadFactory threads,
      ScheduledExecutorService timer,
      RejectedExecutionHandler afterShutdown) {
    super(
        few,
        most,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        threads,
        afterShutdown);
    this.few = few;
    this.timer = timer;
    allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable task) {
    try {
      super.execute(task);
    } catch (OutOfMemoryError e) {
      // The system starts no thread now. The task waits until it does, since it may be a release.
      if (!getQueue().contains(task)) {
        getQueue().add(task);
      }
    }
    lookLater();
  }

  @Override
  protected void afterExecute(Runnable task, Throwable failure) {
    ended.incrementAndGet();
  }

  private void lookLater() {
    if (!getQueue().isEmpty() && looking.compareAndSet(false, true)) {
      lookLater(ended.get());
    }
  }

  private void lookLater(long endedSoFar) {
    try {
      var unused =
          timer.schedule(() -> look(endedSoFar), LOOK_EVERY.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // Everything is being closed, or the timer cannot be started now. The next task tries again.
      looking.set(false);
    }
  }

  private void look(long endedBefore) {
    if (getQueue().isEmpty()) {
      setCorePoolSize(few);
      looking.set(false);
      lookLater();
      return;
    }
    long endedNow = ended.get();
    try {
      if (getPoolSize() < getCorePoolSize()) {
        // A thread could not be started when it was due.
        boolean unused = prestartCoreThread();
      } else if (endedNow == endedBefore) {
        setCorePoolSize(Math.min(getMaximumPoolSize(), 2 * getCorePoolSize()));
      }
    } finally {
      // Also if no thread can be started now: otherwise nobody would look any more.
      lookLater(endedNow);
    }
  }
}
