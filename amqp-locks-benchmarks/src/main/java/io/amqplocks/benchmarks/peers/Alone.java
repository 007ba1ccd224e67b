package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Acquire and release, one after the other, by one thread. The kinds take turns by short bursts: in
 * turns of single operations, each would find its server and its threads asleep. One that fails
 * drops out.
 */
final class Alone {

  private static final int BURST = 40;

  /** Of each burst: they wake up who sleeps. */
  private static final int NOT_COUNTED = 5;

  private Alone() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder)
      throws Exception {
    Map<Kind, PeerLock> locks = new LinkedHashMap<>();
    for (Kind kind : kinds) {
      locks.put(kind, systems.lock(Scenario.ALONE, kind, 0));
    }
    measure(locks, effort, recorder);
  }

  static void measure(Map<Kind, PeerLock> locks, Effort effort, Recorder recorder) {
    List<Kind> turns = new ArrayList<>(locks.keySet());
    for (Kind kind : List.copyOf(turns)) {
      long end = System.nanoTime() + effort.warmUp().toNanos();
      boolean goesOn = true;
      while (goesOn && end - System.nanoTime() > 0) {
        goesOn = burst(kind, locks, turns, recorder, false);
      }
    }
    long end = System.nanoTime() + effort.alone().toNanos();
    for (int round = 0; round == 0 || end - System.nanoTime() > 0; round++) {
      for (Kind kind : List.copyOf(turns)) {
        boolean unused = burst(kind, locks, turns, recorder, true);
      }
      Collections.rotate(turns, -1);
    }
  }

  /** Whether it succeeded; if not, the kind has had its last turn. */
  private static boolean burst(
      Kind kind,
      Map<Kind, PeerLock> locks,
      List<Kind> turns,
      Recorder recorder,
      boolean isCounted) {
    PeerLock lock = Objects.requireNonNull(locks.get(kind));
    try {
      for (int nth = 0; nth < BURST; nth++) {
        long nanos = nanos(lock);
        if (isCounted && nth >= NOT_COUNTED) {
          recorder.add(kind, Metric.LATENCY, nanos / 1e3);
        }
      }
      return true;
    } catch (Exception e) {
      recorder.fail(kind, e);
      turns.remove(kind);
      return false;
    }
  }

  private static long nanos(PeerLock lock) throws Exception {
    long start = System.nanoTime();
    lock.acquire().close();
    return System.nanoTime() - start;
  }
}
