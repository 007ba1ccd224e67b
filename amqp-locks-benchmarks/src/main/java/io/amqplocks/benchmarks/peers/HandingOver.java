package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * From the release by one client to the acquire of another, which has waited for some random time:
 * a waiter that looks now and then must not profit from being released just then.
 */
final class HandingOver {

  private static final int LEAST_PAUSE = 30_000_000;

  /** Those who look every 100 ms are released at any moment between two looks. */
  private static final int LONGEST_PAUSE = LEAST_PAUSE + 100_000_000;

  private HandingOver() {}

  /** One hand-over of a kind. */
  @FunctionalInterface
  private interface Round {
    long nanos(Kind kind) throws Exception;
  }

  /** Between clients in this process. */
  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    inTurns(
        kinds,
        effort.handOvers(),
        recorder,
        kind ->
            handOver(
                systems.lock(Scenario.HAND_OVER, kind, 0),
                systems.lock(Scenario.HAND_OVER, kind, 1),
                kind.slots()));
  }

  /** Between two processes, which contend before that to be warm. */
  static void betweenProcesses(
      Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    Processes.with(
        2,
        systems,
        kinds,
        recorder,
        processes -> betweenProcesses(processes, kinds, effort, recorder));
  }

  static void betweenProcesses(
      ClientProcesses processes, List<Kind> kinds, Effort effort, Recorder recorder) {
    String lock = Scenario.PROCESS_HAND_OVER.lock();
    Set<Kind> warm = EnumSet.noneOf(Kind.class);
    inTurns(
        kinds,
        effort.processHandOvers(),
        recorder,
        kind -> {
          if (processes.complete()) {
            warm.clear();
          }
          if (warm.add(kind)) {
            List<Work> unused = processes.contend(kind, lock, effort.processSlice());
          }
          return processes.handOver(kind, lock, pause());
        });
  }

  private static void inTurns(List<Kind> kinds, int rounds, Recorder recorder, Round handOver) {
    int notCounted = rounds / 10;
    List<Kind> turns = new ArrayList<>(kinds);
    for (int round = -notCounted; round < rounds; round++) {
      for (Kind kind : List.copyOf(turns)) {
        try {
          long nanos = handOver.nanos(kind);
          if (nanos <= 0) {
            throw new IllegalStateException("It was acquired before it was released");
          }
          if (round >= 0) {
            recorder.add(kind, Metric.LATENCY, nanos / 1e3);
          }
        } catch (Exception e) {
          recorder.fail(kind, e);
          turns.remove(kind);
        }
      }
      Collections.rotate(turns, -1);
    }
  }

  private static Duration pause() {
    return Duration.ofNanos(ThreadLocalRandom.current().nextLong(LEAST_PAUSE, LONGEST_PAUSE));
  }

  private static long handOver(PeerLock held, PeerLock wanted, int slots) throws Exception {
    List<AutoCloseable> leases = new ArrayList<>();
    try {
      while (leases.size() < slots) {
        leases.add(held.acquire());
      }
      CompletableFuture<Long> taken = new CompletableFuture<>();
      Thread waiter = new Thread(() -> takeOnce(wanted, taken), "waiter");
      waiter.start();
      LockSupport.parkNanos(pause().toNanos());
      long start = System.nanoTime();
      leases.remove(0).close();
      long nanos = taken.get(60, TimeUnit.SECONDS) - start;
      waiter.join();
      return nanos;
    } finally {
      for (AutoCloseable lease : leases) {
        lease.close();
      }
    }
  }

  private static void takeOnce(PeerLock wanted, CompletableFuture<Long> taken) {
    try (AutoCloseable lease = wanted.acquire()) {
      taken.complete(System.nanoTime());
    } catch (Exception e) {
      taken.completeExceptionally(e);
    }
  }
}
