package io.amqplocks.benchmarks;

import io.amqplocks.lock.AmqpLock;
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
public record Contention(long acquires, long longestWait) {

  /** Long enough that nobody gives up. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Lets threads of this process contend for that long. */
  static Contention of(AmqpLock lock, int threads, Duration time) throws Exception {
    return of(Collections.nCopies(threads, lock), time);
  }

  /** Lets a thread for each of these contend; to the broker they may be several clients. */
  static Contention of(List<AmqpLock> locks, Duration time) throws Exception {
    List<Callable<? extends AutoCloseable>> acquires = new ArrayList<>();
    locks.forEach(lock -> acquires.add(() -> lock.acquire(PATIENCE)));
    return each(acquires, time).stream().reduce(new Contention(0, 0), Contention::and);
  }

  /**
   * Lets a thread for each of these contend.
   *
   * @param acquires wait for the lock, and return what releases it
   * @return what each thread achieved
   */
  public static List<Contention> each(
      List<Callable<? extends AutoCloseable>> acquires, Duration time) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(acquires.size());
    try {
      long end = System.nanoTime() + time.toNanos();
      List<Callable<Contention>> tasks = new ArrayList<>();
      for (Callable<? extends AutoCloseable> acquire : acquires) {
        tasks.add(() -> loop(acquire, end));
      }
      List<Contention> outcomes = new ArrayList<>();
      for (Future<Contention> each : pool.invokeAll(tasks)) {
        outcomes.add(each.get());
      }
      return outcomes;
    } finally {
      pool.shutdownNow();
    }
  }

  private static Contention loop(Callable<? extends AutoCloseable> acquire, long end)
      throws Exception {
    long acquires = 0;
    long longest = 0;
    for (long start = System.nanoTime(); end - start > 0; start = System.nanoTime()) {
      try (AutoCloseable lease = acquire.call()) {
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
