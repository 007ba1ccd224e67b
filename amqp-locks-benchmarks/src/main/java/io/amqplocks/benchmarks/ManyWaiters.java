package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * Threads of one process that wait for one mutex, and have it one after the other: what a turn
 * takes if there are many, and what a waiter costs in heap.
 */
record ManyWaiters() implements RowSource {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int MANY = 1_000;

  @Override
  public String name() {
    return "growth, 1 to 1,000 waiters";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    AmqpLocks locks = lab.locks();
    Samples one = new Samples();
    Samples many = new Samples();
    Samples heap = new Samples();
    for (int round = 0; round < (lab.quick() ? 1 : 3); round++) {
      for (int i = 0; i < 100; i++) {
        one.add(turn(locks, 1, new Samples()));
      }
      many.add(turn(locks, MANY, heap));
    }
    rows.accept(
        Row.time(
            name(), many, one, Goal.NONE, "ours with one waiter; a turn is acquire + release"));
    rows.accept(
        new Row(
            "  heap per waiter",
            Unit.BYTES,
            heap.median(),
            parkedThread(),
            Goal.NONE,
            "a thread that sleeps, without its stack"));
  }

  /** Lets so many wait; how long each turn took, from when the first could begin. */
  private static double turn(AmqpLocks locks, int waiters, Samples heap) throws Exception {
    AmqpLock mutex = locks.mutex("line");
    Lease first = mutex.acquire(PATIENCE);
    long before = waiters > 1 ? Heap.used() : 0;
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      Thread thread = new Thread(() -> haveOnce(mutex), "waiter");
      thread.start();
      threads.add(thread);
    }
    while (locks.status().waiting() < waiters) {
      Thread.onSpinWait();
    }
    if (waiters > 1) {
      heap.add((double) (Heap.used() - before) / waiters);
    }
    // Before the release, which hands the lock to the first of them.
    long start = System.nanoTime();
    first.close();
    for (Thread thread : threads) {
      thread.join();
    }
    return (double) (System.nanoTime() - start) / waiters;
  }

  private static void haveOnce(AmqpLock mutex) {
    try {
      mutex.acquire(PATIENCE).close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static double parkedThread() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    long before = Heap.used();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      Thread thread = new Thread(() -> await(end), "sleeper");
      thread.start();
      threads.add(thread);
    }
    double each = (double) (Heap.used() - before) / MANY;
    end.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    return each;
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
