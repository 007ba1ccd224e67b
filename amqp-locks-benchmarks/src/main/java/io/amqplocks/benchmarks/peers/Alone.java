package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Acquire and release, one after the other, by one thread. The kinds take turns by short bursts: in
 * turns of single operations, each would find its server and its threads asleep.
 */
final class Alone {

  private static final int BURST = 40;

  /** Of each burst: they wake up who sleeps. */
  private static final int NOT_COUNTED = 5;

  private Alone() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder)
      throws Exception {
    List<PeerLock> locks = new ArrayList<>();
    for (Kind kind : kinds) {
      PeerLock lock = systems.lock(Scenario.ALONE, kind, 0);
      locks.add(lock);
      warmUp(lock, effort.warmUp());
    }
    long end = System.nanoTime() + effort.alone().toNanos();
    for (int round = 0; round == 0 || end - System.nanoTime() > 0; round++) {
      for (int i = 0; i < locks.size(); i++) {
        int turn = (round + i) % locks.size();
        for (int nth = 0; nth < BURST; nth++) {
          long nanos = nanos(locks.get(turn));
          if (nth >= NOT_COUNTED) {
            recorder.add(kinds.get(turn), Metric.LATENCY, nanos / 1e3);
          }
        }
      }
    }
  }

  private static void warmUp(PeerLock lock, Duration time) throws Exception {
    long end = System.nanoTime() + time.toNanos();
    while (end - System.nanoTime() > 0) {
      long unused = nanos(lock);
    }
  }

  private static long nanos(PeerLock lock) throws Exception {
    long start = System.nanoTime();
    lock.acquire().close();
    return System.nanoTime() - start;
  }
}
