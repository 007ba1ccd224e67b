package io.amqplocks.benchmarks;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What threads that all want one lock achieved. They hold it for no time: what is measured is the
 * lock.
 *
 * @param acquires how often it was had
 * @param longestWait the longest time that a thread waited for it, in nanoseconds
 */
record Contention(long acquires, long longestWait) {

  /** Long enough that nobody gives up. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Lets threads of this process contend for that long. */
  static Contention of(AmqpLock lock, int threads, Duration time) throws Exception {
    return of(Collections.nCopies(threads, lock), time);
  }

  /** Lets a thread for each of these contend; to the broker they may be several clients. */
  static Contention of(List<AmqpLock> locks, Duration time) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(locks.size());
    try {
      long end = System.nanoTime() + time.toNanos();
      List<Callable<Contention>> tasks = new ArrayList<>();
      for (AmqpLock lock : locks) {
        tasks.add(() -> loop(lock, end));
      }
      Contention all = new Contention(0, 0);
      for (Future<Contention> each : pool.invokeAll(tasks)) {
        all = all.and(each.get());
      }
      return all;
    } finally {
      pool.shutdownNow();
    }
  }

  private static Contention loop(AmqpLock lock, long end) throws InterruptedException {
    long acquires = 0;
    long longest = 0;
    for (long start = System.nanoTime(); end - start > 0; start = System.nanoTime()) {
      try (Lease lease = lock.acquire(PATIENCE)) {
        long waited = System.nanoTime() - start;
        longest = Math.max(longest, waited);
        // One that came after the end is the last one's wait, but nobody's throughput.
        acquires += end - System.nanoTime() > 0 ? 1 : 0;
      }
    }
    return new Contention(acquires, longest);
  }

  Contention and(Contention other) {
    return new Contention(acquires + other.acquires, Math.max(longestWait, other.longestWait));
  }
}
