package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * From the release by one client to the acquire of another, which has waited for some random time:
 * a waiter that looks now and then must not profit from being released just then. The two are in
 * one process, because then one clock tells.
 */
final class HandingOver {

  private static final int LEAST_PAUSE = 30_000_000;
  private static final int LONGEST_PAUSE = 60_000_000;

  private HandingOver() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    int rounds = effort.handOvers();
    int notCounted = rounds / 10;
    List<Kind> turns = new ArrayList<>(kinds);
    for (int round = -notCounted; round < rounds; round++) {
      for (Kind kind : List.copyOf(turns)) {
        try {
          long nanos =
              handOver(
                  systems.lock(Scenario.HAND_OVER, kind, 0),
                  systems.lock(Scenario.HAND_OVER, kind, 1),
                  kind.slots());
          if (round >= 0) {
            recorder.add(kind, Metric.LATENCY, nanos / 1e3);
          }
        } catch (Exception e) {
          recorder.fail(kind, e);
          turns.remove(kind);
        }
      }
    }
  }

  private static long handOver(PeerLock held, PeerLock wanted, int slots) throws Exception {
    List<AutoCloseable> leases = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      leases.add(held.acquire());
    }
    CompletableFuture<Long> taken = new CompletableFuture<>();
    Thread waiter = new Thread(() -> takeOnce(wanted, taken), "waiter");
    waiter.start();
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LEAST_PAUSE, LONGEST_PAUSE));
    long start = System.nanoTime();
    leases.remove(0).close();
    long nanos = taken.get(60, TimeUnit.SECONDS) - start;
    waiter.join();
    for (AutoCloseable lease : leases) {
      lease.close();
    }
    return nanos;
  }

  private static void takeOnce(PeerLock wanted, CompletableFuture<Long> taken) {
    try (AutoCloseable lease = wanted.acquire()) {
      taken.complete(System.nanoTime());
    } catch (Exception e) {
      taken.completeExceptionally(e);
    }
  }
}
