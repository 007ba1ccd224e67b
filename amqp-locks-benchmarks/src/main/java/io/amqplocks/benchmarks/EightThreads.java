package io.amqplocks.benchmarks;

import io.amqplocks.lock.AmqpLock;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * One mutex, eight threads in one process, alone and with a waiter in another.
 *
 * <p>The goal is 30 times what Redisson's RLock does. RLock did 3,128 a second on a machine and a
 * day on which the broker did 289 raw pairs a second. Only ratios carry over to another machine, so
 * the goal is 30 × 3,128 / 289 times the raw pairs measured here. The module's README says what a
 * missed goal is made of.
 */
record EightThreads() implements RowSource {

  private static final int THREADS = 8;
  private static final Goal GOAL = Goal.atLeastTimes(Math.rint(30 * 3_128 / 289.0));

  @Override
  public String name() {
    return "mutex, 8 threads in one process";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    AmqpLock mutex = lab.locks().mutex("eight");
    new Throughput(lab, rows)
        .measure(
            name(),
            GOAL,
            "raw pairs of one connection; the goal is 30 × Redisson's RLock",
            time -> Contention.of(mutex, THREADS, time).acquires(),
            time -> withoutBroker(time, true));
    AmqpLock unfair = mutex.unfair();
    new Throughput(lab, rows)
        .measure(
            name() + ", unfair",
            Goal.NONE,
            "threads may overtake each other, as with Redisson's RLock; the row below: unfair too",
            time -> Contention.of(unfair, THREADS, time).acquires(),
            time -> withoutBroker(time, false));
    waiterElsewhere(lab, rows, mutex);
  }

  private static long withoutBroker(Duration time, boolean fair) throws Exception {
    ReentrantLock lock = new ReentrantLock(fair);
    LongAdder acquires = new LongAdder();
    long end = System.nanoTime() + time.toNanos();
    Callable<Void> loop =
        () -> {
          while (end - System.nanoTime() > 0) {
            lock.lock();
            try {
              acquires.increment();
            } finally {
              lock.unlock();
            }
          }
          return null;
        };
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      for (Future<Void> each : pool.invokeAll(Collections.nCopies(THREADS, loop))) {
        each.get();
      }
      return acquires.sum();
    } finally {
      pool.shutdownNow();
    }
  }

  /** Whether eight threads starve a ninth in another process. */
  private static void waiterElsewhere(Lab lab, Consumer<Row> rows, AmqpLock mutex)
      throws Exception {
    Contender other = Contender.start(lab, "eight", 1, 1).get(0);
    Duration time = lab.time();
    other.begin(time);
    Contention here = Contention.of(mutex, THREADS, time);
    Contention there = other.end(time);
    rows.accept(
        new Row(
            "  longest wait of a 9th elsewhere",
            Unit.MICROS,
            there.longestWait() / 1e3,
            Double.NaN,
            Goal.NONE,
            "it had the mutex %d times, they %d".formatted(there.acquires(), here.acquires())));
  }
}
