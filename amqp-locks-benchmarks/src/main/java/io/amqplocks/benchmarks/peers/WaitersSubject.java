package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * So many threads wait for one lock, with all clients of the process but one in turn. Each has it
 * once, for no time.
 */
final class WaitersSubject implements Growing.Subject {

  /** After these, the others are so much fewer that it would not be the same size. */
  private static final int COUNTED = 10;

  /** A release at always the same time would meet those who ask again and again at the same one. */
  private static final int LEAST_WAIT_MILLIS = 30;

  private static final int MOST_WAIT_MILLIS = 130;

  /** For each waiter: those of etcd and ZooKeeper are written to the disk. */
  private static final int MILLIS_TO_BEGIN = 3;

  /** A turn of a waiter, in nanoseconds. */
  private record Turn(long acquired, long released) {}

  private final Systems systems;
  private final Kind kind;
  private final Random random = new Random(1);
  private OptionalDouble cost = OptionalDouble.empty();

  WaitersSubject(Systems systems, Kind kind) {
    this.systems = systems;
    this.kind = kind;
  }

  @Override
  public OptionalDouble grow(int size, TimeLimit limit) {
    return OptionalDouble.empty();
  }

  /** As many times as it takes, for one waiter has one hand-over only. */
  @Override
  public List<Double> probe(int size, TimeLimit limit) throws Exception {
    List<Double> micros = new ArrayList<>();
    while (micros.size() < COUNTED) {
      micros.addAll(handOvers(size, limit));
    }
    return micros;
  }

  private List<Double> handOvers(int size, TimeLimit limit) throws Exception {
    PeerLock first = lock(0);
    List<PeerLock> wanted = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      wanted.add(lock(1 + i % (Systems.CLIENTS - 1)));
    }
    ConcurrentLinkedQueue<Turn> turns = new ConcurrentLinkedQueue<>();
    ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
    List<Thread> waiters = new ArrayList<>();
    AutoCloseable held = first.acquire();
    Duration patience = limit.left();
    for (PeerLock lock : wanted) {
      Thread waiter = new Thread(() -> haveOnce(lock, patience, turns, failures), "waiter");
      waiter.setDaemon(true);
      waiter.start();
      waiters.add(waiter);
    }
    // Nobody says of all systems how many wait.
    TimeUnit.MILLISECONDS.sleep(
        random.nextInt(LEAST_WAIT_MILLIS, MOST_WAIT_MILLIS) + (long) MILLIS_TO_BEGIN * size);
    CpuTimes before = systems.server(kind.peer()).cpu();
    long start = System.nanoTime();
    held.close();
    for (Thread waiter : waiters) {
      TimeUnit.MILLISECONDS.timedJoin(waiter, Math.max(1, limit.left().toMillis()));
    }
    // Who failed was not too slow.
    Exception failure = failures.poll();
    if (failure != null) {
      throw failure;
    }
    limit.check();
    systems
        .server(kind.peer())
        .cpu()
        .since(before)
        .ifPresent(used -> cost = OptionalDouble.of(CpuTimes.microsOf(used, size)));
    return handOvers(start, List.copyOf(turns));
  }

  private PeerLock lock(int client) throws Exception {
    return systems.client(kind.peer(), client).lock(kind, "bench-growth-waiters");
  }

  private static void haveOnce(
      PeerLock lock,
      Duration patience,
      ConcurrentLinkedQueue<Turn> turns,
      ConcurrentLinkedQueue<Exception> failures) {
    try {
      Optional<AutoCloseable> lease = lock.acquire(patience);
      if (lease.isPresent()) {
        long acquired = System.nanoTime();
        turns.add(new Turn(acquired, System.nanoTime()));
        lease.get().close();
      }
    } catch (Exception e) {
      failures.add(e);
    }
  }

  private static List<Double> handOvers(long start, List<Turn> turns) {
    List<Double> micros = new ArrayList<>();
    long released = start;
    for (Turn turn : turns.subList(0, Math.min(COUNTED, turns.size()))) {
      micros.add((turn.acquired() - released) / 1e3);
      released = turn.released();
    }
    return micros;
  }

  @Override
  public OptionalDouble cost() {
    return cost;
  }

  @Override
  public void close() {}
}
