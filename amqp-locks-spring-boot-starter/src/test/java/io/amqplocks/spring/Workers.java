package io.amqplocks.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Threads that do the same thing at once. */
public final class Workers {

  private Workers() {}

  /** The result of the call on another thread, which is part of no call of this one. */
  public static <T extends @Nullable Object> T elsewhere(Callable<T> call) throws Exception {
    FutureTask<T> task = new FutureTask<>(call);
    new Thread(task, "elsewhere").start();
    return task.get(60, TimeUnit.SECONDS);
  }

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
