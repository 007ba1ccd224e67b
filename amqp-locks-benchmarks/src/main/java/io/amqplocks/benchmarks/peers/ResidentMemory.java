package io.amqplocks.benchmarks.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** How much of the machine's memory processes have. What several share counts once. */
final class ResidentMemory {

  private static final String SHARE = "Pss:";

  private ResidentMemory() {}

  /** In bytes; empty if there is no process, or the operating system does not tell. */
  static OptionalLong of(Stream<ProcessHandle> processes) {
    return processes
        .map(ResidentMemory::ofOne)
        .filter(OptionalLong::isPresent)
        .mapToLong(OptionalLong::getAsLong)
        .reduce(Long::sum);
  }

  private static OptionalLong ofOne(ProcessHandle process) {
    Path file = Path.of("/proc", Long.toString(process.pid()), "smaps_rollup");
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.startsWith(SHARE))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst();
    } catch (IOException endedOrNotLinux) {
      return OptionalLong.empty();
    }
  }
}
