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
 * A pool of few threads that doubles, again and again and up to a bound, for as long as tasks wait and none
 * ends: its threads then wait for a broker that does not answer, and a task whose queue is well must not
 * wait with them. Quick tasks, however many, are done by the few.
 *
 * <p>Concurrency: at most one look at the pool is due at any time. Who adds a task sets the mark and has it
 * looked at, unless the mark is set. The look takes the mark away only when no task waits, and then looks
 * once more: a task that came in between has seen the mark or is seen by that.
 */
final class GrowingPool extends ThreadPoolExecutor {

  /** A task that has not ended by then waits for the broker. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);

  private static final long IDLE_SECONDS = 10;

  private final int few;
  private final ScheduledExecutorService timer;
  private final AtomicBoolean looking = new AtomicBoolean();
  private final AtomicLong ended = new AtomicLong();

  /**
   * Has no threads yet.
   *
   * @param few threads that there are at most while tasks end
   * @param most threads that there are at most
   * @param timer says when to look
   * @param afterShutdown what to do with tasks that come after the shutdown
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
    super.execute(task);
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
    } catch (RejectedExecutionException e) {
      // All is being closed, and nothing new is begun.
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
    if (endedNow == endedBefore) {
      setCorePoolSize(Math.min(getMaximumPoolSize(), 2 * getCorePoolSize()));
    }
    lookLater(endedNow);
  }
}
