package io.amqplocks.spring.internal.async;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A pool whose tasks wait for a thread if the system lets the process start none for a while. Other
 * pools throw then, and the task is lost, which may be the release of a lock.
 *
 * <p>Concurrency: a task that could not be handed to a thread is in no queue of this pool. It is in
 * that of the timer, which hands it over again. So it runs once.
 */
final class PatientPool extends ThreadPoolExecutor {

  private static final long TRY_AGAIN_MILLIS = 50;
  private static final long IDLE_SECONDS = 10;

  private final ScheduledExecutorService timer;

  /** A pool without threads, which end when they are idle. */
  PatientPool(
      int core,
      int most,
      BlockingQueue<Runnable> queue,
      ThreadFactory threads,
      ScheduledExecutorService timer) {
    super(core, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, threads);
    this.timer = timer;
    allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable task) {
    try {
      super.execute(task);
    } catch (OutOfMemoryError e) {
      boolean unused = remove(task);
      executeLater(task);
    }
  }

  private void executeLater(Runnable task) {
    try {
      var unused = timer.schedule(() -> execute(task), TRY_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
    } catch (OutOfMemoryError e) {
      // Its thread cannot be started either. The task is in its queue, and runs when it has one.
    }
  }
}
