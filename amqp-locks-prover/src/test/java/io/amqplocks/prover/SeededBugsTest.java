package io.amqplocks.prover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The bugs that {@code bin/prove --seeded-bugs} puts into core, one by one, still apply to it. The
 * command takes too long for the build; what it found is in {@code docs/PROVER.md}.
 */
@Tag("one-jdk")
class SeededBugsTest {

  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Path SEEDS = Path.of("src", "test", "seeded-bugs");

  private static List<Path> patches() throws IOException {
    try (Stream<Path> files = Files.list(SEEDS)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("patches")
  void appliesToCore(Path patch) throws Exception {
    Process git =
        new ProcessBuilder("git", "apply", "--check", patch.toAbsolutePath().toString())
            .directory(ROOT.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(git.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(git.exitValue()).as(output).isZero();
    assertThat(Files.readString(patch)).contains("+++ b/amqp-locks-core/src/main/java/");
  }

  /** A bug that nobody looked for proves nothing. */
  @Test
  void eachIsInTheTable() throws Exception {
    String table = Files.readString(ROOT.resolve("docs").resolve("PROVER.md"));
    assertThat(patches()).hasSizeGreaterThanOrEqualTo(25);
    assertThat(patches())
        .allSatisfy(
            patch -> {
              String name = patch.getFileName().toString().replaceFirst("\\.patch$", "");
              assertThat(table).contains("| " + name.substring(3).replace('-', ' ') + " |");
            });
  }
}
