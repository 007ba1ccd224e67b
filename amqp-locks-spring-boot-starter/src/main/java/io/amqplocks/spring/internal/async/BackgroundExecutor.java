package io.amqplocks.spring.internal.async;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does what asks the broker and would keep a caller that must not wait.
 *
 * <p>Nothing of the application's runs on these threads: what it chains to a future may wait for
 * another lock, and eight of these would keep all leases from being given back, for ever. So no
 * future that the application has is completed here; {@link #call} completes its own elsewhere.
 *
 * <p>To give back and to verify is bounded by the call timeout, and there are at most as many of
 * these tasks as leases. To create a semaphore may take longer, as when an administrator is at it:
 * that has threads of its own, lest it keep leases from being given back. Daemon threads, which end
 * when there is nothing to do. If the system starts no thread for a while, the tasks wait for one.
 */
public final class BackgroundExecutor {

  private static final AtomicInteger COUNT = new AtomicInteger();

  /** Only starts tasks of the other pools, so one thread is enough. */
  private static final ScheduledThreadPoolExecutor TIMER =
      new ScheduledThreadPoolExecutor(1, threads("timer"));

  private static final Executor RELEASES = pool("release");
  private static final Executor CREATIONS = pool("create");
  private static final Executor RESULTS =
      new PatientPool(0, Integer.MAX_VALUE, new SynchronousQueue<>(), threads("result"), TIMER);

  static {
    TIMER.setKeepAliveTime(10, TimeUnit.SECONDS);
    TIMER.allowCoreThreadTimeOut(true);
    TIMER.setRemoveOnCancelPolicy(true);
  }

  private BackgroundExecutor() {}

  private static Executor pool(String purpose) {
    return new PatientPool(8, 8, new LinkedBlockingQueue<>(), threads(purpose), TIMER);
  }

  private static ThreadFactory threads(String purpose) {
    return task -> {
      Thread thread =
          new Thread(task, "amqp-locks-spring-" + purpose + "-" + COUNT.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Does the task soon: to release or verify leases. */
  public static void run(Runnable task) {
    RELEASES.execute(task);
  }

  /** Does the task after that time: to release a lease. At most 292 years count. */
  public static Future<?> runAfter(Duration time, Runnable task) {
    long delay = TimeUnit.NANOSECONDS.convert(time);
    return TIMER.schedule(() -> run(task), delay, TimeUnit.NANOSECONDS);
  }

  /** Does the task soon. Its outcome is delivered elsewhere, as by {@link #deliver}. */
  public static <T extends @Nullable Object> CompletableFuture<T> call(Supplier<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    run(
        () -> {
          Runnable deliver;
          try {
            T value = task.get();
            deliver = () -> result.complete(value);
          } catch (RuntimeException | Error e) {
            deliver = () -> result.completeExceptionally(e);
          }
          deliver(deliver);
        });
    return result;
  }

  /**
   * Hands something to the application, whose code may block. It has as many threads as it needs:
   * the common pool has one, on two processors, and who blocks it keeps all others from their
   * results.
   */
  public static void deliver(Runnable task) {
    RESULTS.execute(task);
  }

  /** Creates a semaphore soon. */
  public static void create(Runnable task) {
    CREATIONS.execute(task);
  }
}
