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

  /** For what must not hold anybody up; after a shutdown, tasks are dropped. */
  ThreadPoolExecutor background() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        this,
        new ThreadPoolExecutor.DiscardPolicy());
  }

  ScheduledExecutorService scheduler() {
    return new ScheduledThreadPoolExecutor(1, this);
  }
}
