package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Contention;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Eight threads want one lock, and hold it for no time. They share a client, or have one each. The
 * kinds take turns by slices, in several passes.
 */
final class Contended {

  private Contended() {}

  static void measure(
      Systems systems, Scenario scenario, List<Kind> kinds, Effort effort, Recorder recorder) {
    Duration slice = effort.slice();
    List<Kind> turns = new ArrayList<>(kinds);
    for (int pass = 0; pass <= effort.passes(); pass++) {
      for (Kind kind : List.copyOf(turns)) {
        try {
          List<Contention> outcomes = Contention.each(acquires(systems, scenario, kind), slice);
          // The first pass is for warming up.
          if (pass > 0) {
            record(outcomes, kind, scenario, slice, recorder);
          }
        } catch (Exception e) {
          recorder.fail(kind, e);
          turns.remove(kind);
        }
      }
      Collections.rotate(turns, -1);
    }
  }

  private static List<Callable<? extends AutoCloseable>> acquires(
      Systems systems, Scenario scenario, Kind kind) throws Exception {
    List<Callable<? extends AutoCloseable>> acquires = new ArrayList<>();
    for (int i = 0; i < Systems.CLIENTS; i++) {
      PeerLock lock = systems.lock(scenario, kind, scenario == Scenario.THREADS ? 0 : i);
      acquires.add(lock::acquire);
    }
    return acquires;
  }

  private static void record(
      List<Contention> outcomes, Kind kind, Scenario scenario, Duration slice, Recorder recorder) {
    long all = outcomes.stream().mapToLong(Contention::acquires).sum();
    long least = outcomes.stream().mapToLong(Contention::acquires).min().orElseThrow();
    recorder.add(kind, Metric.RATE, all * 1e9 / slice.toNanos());
    if (scenario == Scenario.CLIENTS && all > 0) {
      recorder.add(kind, Metric.LEAST_SHARE, least * (double) outcomes.size() / all);
    }
  }
}
