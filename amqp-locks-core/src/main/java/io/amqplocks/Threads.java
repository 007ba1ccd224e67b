package io.amqplocks;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Creates named daemon threads. A thread dump shows whose they are, and they keep no JVM alive.
 * They serve all callers, so they inherit nothing of the caller that happens to be the first, such
 * as a user's security context. Their class loader is the one of the thread that builds the locks.
 */
final class Threads implements ThreadFactory {

  /** As many as the requests that a connection can have outstanding. */
  private static final int MOST = 256;

  private final String name;
  private final AtomicInteger count = new AtomicInteger();
  private final @Nullable ClassLoader classes = Thread.currentThread().getContextClassLoader();

  Threads(String connectionName) {
    // Applications name the connection after themselves, and so other threads than these.
    name =
        connectionName.startsWith("amqp-locks") ? connectionName : "amqp-locks " + connectionName;
  }

  @Override
  public Thread newThread(Runnable task) {
    Thread thread = new Thread(null, task, name + "-" + count.incrementAndGet(), 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(classes);
    return thread;
  }

  /**
   * Runs what must not delay anybody: releases of lost leases, and late replies. After a shutdown
   * its tasks are dropped, because the session that they would tidy up is gone.
   */
  ThreadPoolExecutor background(ScheduledExecutorService timer) {
    return new GrowingPool(16, MOST, this, timer, new ThreadPoolExecutor.DiscardPolicy());
  }

  /**
   * Runs verifications, with at most half of the requests that a connection can have outstanding.
   */
  ThreadPoolExecutor verifying(ScheduledExecutorService timer) {
    return new GrowingPool(8, MOST / 2, this, timer, new ThreadPoolExecutor.DiscardPolicy());
  }

  /**
   * Asks for signs of life of the broker. These requests do not wait behind verifications, which
   * wait for queues that hang.
   */
  ThreadPoolExecutor beating(ScheduledExecutorService timer) {
    return new GrowingPool(1, MOST / 2, this, timer, new ThreadPoolExecutor.DiscardPolicy());
  }

  /**
   * Runs asynchronous calls. They have a pool of their own, because they wait for the broker. After
   * a shutdown it refuses tasks.
   */
  ThreadPoolExecutor waitingWork(ScheduledExecutorService timer) {
    return new GrowingPool(8, MOST, this, timer, new ThreadPoolExecutor.AbortPolicy());
  }

  /**
   * Completes asynchronous calls, with the actions that users chain to them. These may block, and
   * even wait for another result, so the pool has as many threads as it needs. The common pool has
   * too few: one, on two processors. The threads end by themselves, so nobody shuts the pool down.
   */
  ThreadPoolExecutor results() {
    return new ThreadPoolExecutor(
        0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), this);
  }

  /** Runs signals, which take no time. Most are cancelled before they are due. */
  ScheduledExecutorService timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, this);
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  ScheduledExecutorService scheduler() {
    return new ScheduledThreadPoolExecutor(1, this);
  }
}
