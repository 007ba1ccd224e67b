package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Processes whose threads want one lock, and hold it for no time. What a lease costs is counted for
 * all that were acquired, also by those who still waited at the end of the slice.
 */
final class Processes {

  private Processes() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    with(
        ClientProcesses.COUNT,
        systems,
        kinds,
        recorder,
        processes -> measure(systems, processes, kinds, effort, recorder));
  }

  /** Starts processes, and ends them after that. If they do not start, each kind has failed. */
  static void with(
      int count,
      Systems systems,
      List<Kind> kinds,
      Recorder recorder,
      Consumer<ClientProcesses> measurement) {
    Map<Peer, String> addresses = new EnumMap<>(Peer.class);
    kinds.stream()
        .filter(systems::has)
        .map(Kind::peer)
        .forEach(peer -> addresses.put(peer, systems.server(peer).address()));
    ClientProcesses started;
    try {
      started = ClientProcesses.start(count, addresses);
    } catch (RuntimeException notStarted) {
      kinds.forEach(kind -> recorder.fail(kind, notStarted));
      return;
    }
    try (ClientProcesses processes = started) {
      measurement.accept(processes);
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
          if (processes.complete()) {
            List<Work> unused = processes.contend(kind, lock, time);
          }
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
      long leases = all.leases();
      server.ifPresent(
          used -> recorder.add(kind, Metric.SERVER_CPU, CpuTimes.microsOf(used, leases)));
      recorder.add(kind, Metric.CLIENT_CPU, CpuTimes.microsOf(all.cpu(), leases));
    }
  }
}
