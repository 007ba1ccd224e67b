package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** A semaphore of so many slots, all of them free: each size has a semaphore of its own. */
final class SlotsSubject implements Growing.Subject {

  private static final int BURST = 10;

  /** Of each burst: they wake up who sleeps. */
  private static final int NOT_COUNTED = 2;

  private final PeerClient client;
  private final Kind kind;
  private final List<AutoCloseable> semaphores = new ArrayList<>();
  private PeerLock lock =
      wait -> {
        throw new IllegalStateException("There is no semaphore yet");
      };

  SlotsSubject(PeerClient client, Kind kind) {
    this.client = client;
    this.kind = kind;
  }

  @Override
  public OptionalDouble grow(int size, TimeLimit limit) throws Exception {
    PeerClient.Semaphore semaphore = client.semaphore(kind, "bench-growth-" + size, size);
    semaphores.add(semaphore.end());
    lock = semaphore.lock();
    return OptionalDouble.empty();
  }

  @Override
  public List<Double> probe(int size, TimeLimit limit) throws Exception {
    return burst(limit, nth -> lock);
  }

  /** Which lock is next. */
  @FunctionalInterface
  interface Locks {
    PeerLock next(int nth) throws Exception;
  }

  static List<Double> burst(TimeLimit limit, Locks locks) throws Exception {
    List<Double> micros = new ArrayList<>();
    for (int nth = 0; nth < BURST; nth++) {
      limit.check();
      PeerLock lock = locks.next(nth);
      long start = System.nanoTime();
      lock.acquire().close();
      if (nth >= NOT_COUNTED) {
        micros.add((System.nanoTime() - start) / 1e3);
      }
    }
    return micros;
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable semaphore : semaphores) {
      semaphore.close();
    }
  }
}
