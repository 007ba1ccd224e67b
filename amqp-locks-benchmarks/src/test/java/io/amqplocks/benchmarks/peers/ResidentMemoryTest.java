package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ResidentMemoryTest {

  /** The operating system tells it in kilobytes. A JVM has more than the least of these numbers. */
  @Test
  void isInBytes() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/smaps_rollup")), "this is not Linux");
    long bytes = ResidentMemory.of(Stream.of(ProcessHandle.current())).orElseThrow();
    assertThat(bytes).isBetween(16L << 20, 16L << 30);
  }

  @Test
  void noProcessHasNone() {
    assertThat(ResidentMemory.of(Stream.empty())).isEmpty();
  }
}
