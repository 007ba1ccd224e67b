package io.amqplocks.spring;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Does what asks the broker and would keep a caller that must not wait: to give a lease back, to
 * verify it, to create a semaphore. Each is bounded by the call timeout; there are at most as many of
 * them as leases. Daemon threads, which end when there is nothing to do. Not meant to be called by
 * applications.
 */
public final class Background {

  private static final AtomicInteger COUNT = new AtomicInteger();
  private static final ThreadPoolExecutor POOL =
      new ThreadPoolExecutor(
          8, 8, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Background::thread);

  static {
    POOL.allowCoreThreadTimeOut(true);
  }

  private Background() {}

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "amqp-locks-spring-" + COUNT.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }

  /** Does it soon. */
  public static void run(Runnable task) {
    POOL.execute(task);
  }
}
