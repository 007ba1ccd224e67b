package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How long processes have been on a processor, as the operating system counts it.
 *
 * @param times of each process that there was, by its id
 */
record CpuTimes(Map<Long, Duration> times) {

  CpuTimes {
    times = Map.copyOf(times);
  }

  /** What one of so many leases costs. */
  static double microsOf(Duration all, long leases) {
    return all.toNanos() / 1e3 / leases;
  }

  static CpuTimes of(Stream<ProcessHandle> processes) {
    Map<Long, Duration> times = new HashMap<>();
    processes.forEach(
        process ->
            process
                .info()
                .totalCpuDuration()
                .ifPresent(duration -> times.put(process.pid(), duration)));
    return new CpuTimes(times);
  }

  /**
   * How long they were on one since then. What a process used that has ended meanwhile is lost.
   * Empty if there is no process to look at.
   */
  Optional<Duration> since(CpuTimes earlier) {
    return times.entrySet().stream()
        .map(
            each -> each.getValue().minus(earlier.times.getOrDefault(each.getKey(), Duration.ZERO)))
        .reduce(Duration::plus);
  }
}
