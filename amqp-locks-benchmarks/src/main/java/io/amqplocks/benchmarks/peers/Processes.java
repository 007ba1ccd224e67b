package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Processes whose threads want one lock, and hold it for no time. What a lease costs is counted for
 * all that were acquired, also by those who still waited at the end of the slice.
 */
final class Processes {

  private Processes() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    Map<Peer, String> addresses = new EnumMap<>(Peer.class);
    kinds.stream()
        .filter(systems::has)
        .map(Kind::peer)
        .forEach(peer -> addresses.put(peer, systems.server(peer).address()));
    try (ClientProcesses processes = ClientProcesses.start(addresses)) {
      measure(systems, processes, kinds, effort, recorder);
    } catch (RuntimeException notStarted) {
      kinds.forEach(kind -> recorder.fail(kind, notStarted));
    }
  }

  static void measure(
      Systems systems,
      ClientProcesses processes,
      List<Kind> kinds,
      Effort effort,
      Recorder recorder) {
    Duration time = effort.processSlice();
    String lock = Scenario.PROCESSES.lock();
    Passes.measure(
        kinds,
        effort.passes(),
        recorder,
        (kind, isCounted) -> {
          PeerServer server = systems.server(kind.peer());
          CpuTimes before = server.cpu();
          List<Work> works = processes.contend(kind, lock, time);
          Optional<Duration> used = server.cpu().since(before);
          if (isCounted) {
            record(kind, works, time, used, recorder);
          }
        });
  }

  private static void record(
      Kind kind, List<Work> works, Duration time, Optional<Duration> server, Recorder recorder) {
    Work all = works.stream().reduce(Work::and).orElseThrow();
    recorder.add(kind, Metric.RATE, all.inTime() * 1e9 / time.toNanos());
    if (all.inTime() > 0) {
      long least = works.stream().mapToLong(Work::inTime).min().orElseThrow();
      recorder.add(kind, Metric.LEAST_SHARE, least * (double) works.size() / all.inTime());
    }
    if (all.leases() > 0) {
      double leases = all.leases();
      server.ifPresent(
          used -> recorder.add(kind, Metric.SERVER_CPU, used.toNanos() / 1e3 / leases));
      recorder.add(kind, Metric.CLIENT_CPU, all.cpu().toNanos() / 1e3 / leases);
    }
  }
}
