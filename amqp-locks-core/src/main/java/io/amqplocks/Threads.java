package io.amqplocks;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Named daemon threads: they show in a dump whose they are, and keep no JVM alive. */
final class Threads implements ThreadFactory {

  /** As many questions as a connection has under way. */
  private static final int MOST = 256;

  private final String name;
  private final AtomicInteger count = new AtomicInteger();

  Threads(String name) {
    this.name = name;
  }

  @Override
  public Thread newThread(Runnable task) {
    Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }

  /**
   * For what must not hold anybody up: releases of lost leases, answers that came late. After a
   * shutdown its tasks are dropped, for then the session is gone that they would tidy up.
   */
  ThreadPoolExecutor background(ScheduledExecutorService timer) {
    return new GrowingPool(16, MOST, this, timer, new ThreadPoolExecutor.DiscardPolicy());
  }

  /** For verifications, half of the questions that a connection has under way at most. */
  ThreadPoolExecutor verifying(ScheduledExecutorService timer) {
    return new GrowingPool(8, MOST / 2, this, timer, new ThreadPoolExecutor.DiscardPolicy());
  }

  /**
   * For calls that nobody waits for in a thread of his own. A pool of their own, since they wait for the
   * broker. After a shutdown it refuses.
   */
  ThreadPoolExecutor waitingWork(ScheduledExecutorService timer) {
    return new GrowingPool(8, MOST, this, timer, new ThreadPoolExecutor.AbortPolicy());
  }

  /**
   * For results of asynchronous calls, and whatever users chain to them. That may block, and even wait for
   * another result; so it has as many threads as it needs. The common pool has too few: one, on two
   * processors. They end by themselves, so nobody shuts it down.
   */
  ThreadPoolExecutor results() {
    return new ThreadPoolExecutor(
        0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), this);
  }

  /** For signals, which take no time; most are cancelled before they are due. */
  ScheduledExecutorService timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, this);
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  ScheduledExecutorService scheduler() {
    return new ScheduledThreadPoolExecutor(1, this);
  }
}
