package io.amqplocks.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads that do the same thing at once. */
public final class Workers {

  private Workers() {}

  /** Runs each task on a thread of its own and waits for all. */
  public static void run(List<? extends Callable<?>> tasks)
      throws InterruptedException, ExecutionException, TimeoutException {
    ExecutorService pool = Executors.newFixedThreadPool(tasks.size());
    try {
      List<Future<?>> running = new ArrayList<>();
      tasks.forEach(task -> running.add(pool.submit(task)));
      for (Future<?> one : running) {
        one.get(180, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
