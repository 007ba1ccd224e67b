package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Eight threads want one lock, and hold it for no time. They share a client, or have one each. The
 * kinds take turns by slices, in several passes.
 */
final class Contended {

  private Contended() {}

  static void measure(
      Systems systems, Scenario scenario, List<Kind> kinds, Effort effort, Recorder recorder) {
    Duration time = effort.slice();
    Passes.measure(
        kinds,
        effort.passes(),
        recorder,
        (kind, isCounted) -> {
          List<PeerLock> locks = locks(systems, scenario, kind);
          PeerServer server = systems.server(kind.peer());
          CpuTimes before = server.cpu();
          Contest contest = Contest.of(locks, time);
          Optional<Duration> used = server.cpu().since(before);
          if (isCounted) {
            record(contest, kind, scenario, time, used, recorder);
          }
        });
  }

  private static List<PeerLock> locks(Systems systems, Scenario scenario, Kind kind)
      throws Exception {
    List<PeerLock> locks = new ArrayList<>();
    for (int i = 0; i < Systems.CLIENTS; i++) {
      locks.add(systems.lock(scenario, kind, scenario == Scenario.THREADS ? 0 : i));
    }
    return locks;
  }

  private static void record(
      Contest contest,
      Kind kind,
      Scenario scenario,
      Duration time,
      Optional<Duration> server,
      Recorder recorder) {
    long all = contest.sum();
    recorder.add(kind, Metric.RATE, all * 1e9 / time.toNanos());
    if (scenario == Scenario.CLIENTS && all > 0) {
      long least = Collections.min(contest.inTime());
      recorder.add(kind, Metric.LEAST_SHARE, least * (double) contest.inTime().size() / all);
      server.ifPresent(
          used -> recorder.add(kind, Metric.SERVER_CPU, CpuTimes.microsOf(used, contest.leases())));
    }
  }
}
