package io.amqplocks.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the file of a run to the page. */
class ScaleReportTest {

  private final ScaleRun run = Runs.known();

  @Test
  void aRunSurvivesItsFile() {
    assertThat(ScaleRun.parse(run.json())).isEqualTo(run);
  }

  @Test
  void thePageHasTheNumbers() throws Exception {
    assertThat(ScaleReport.page(run))
        .contains(
            "| lock, idle: mutex | 46.0 kB |",
            "| lease: mutex | 56.0 kB | 100 µs/s | 10 B/s |",
            "| lease: classic tokens | noise | 100 µs/s |",
            "| acquire and release | mutex | 300 µs | 0 B | 3,300 | 0 B/s |",
            "| acquire and release | fenced mutex | 1,000 µs | 5.0 kB | 1,000 | 5.0 MB/s |",
            "| locks, used once: mutex | memory | 300 | 1,000 | 100.0 MB | 105.0 MB | +13 % |",
            "| clients, each with a lock | 23,000 | 10,000 | 52,000 |  | processors |",
            "| clients, each with a lock | 1,000 | 5.3 s | 9.0 s | not in 90 s | 30.0 s | 2 |")
        .doesNotContain("{{", "Infinity", "NaN");
  }

  @Test
  void thePageSaysWhatSpeaksAgainstTheNumbers() throws Exception {
    assertThat(ScaleReport.page(run))
        .contains("| clients: late |")
        .doesNotContain("busy with other work", "A quick run");
    ScaleRun busy =
        new ScaleRun(
            true, "4.3.6", "25", 2, 1, 9.5, Double.NaN, List.of(), List.of(), List.of(), List.of());
    assertThat(ScaleReport.page(busy))
        .contains("busy with other work", "A quick run", "Not measured.")
        .doesNotContain("{{", "NaN");
  }

  @Test
  void thePicturesHaveALineForEach(@TempDir Path folder) throws Exception {
    Path page = ScaleReport.write(run, folder);
    String text = Files.readString(page);
    assertThat(text)
        .isEqualTo(ScaleReport.page(run))
        .contains("](capacity/clients.svg)", "](capacity/locks.svg)");
    assertThat(folder.resolve("capacity/clients.svg"))
        .content()
        .contains("<svg", "clients, connected", "clients, each with a lock", "font-size:13px")
        .doesNotContain("locks, held");
    assertThat(folder.resolve("capacity/locks.svg"))
        .content()
        .contains("locks, held: mutex", "locks, used once: mutex");
  }
}
