package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The growths of one run in the page of another one. */
class GrowthReportTest {

  private static final String HEADING = "## More and more slots, locks and waiters";

  private final Run whole =
      Run.parse(
          """
          {
            "date" : "2026-11-25", "java" : "25", "processors" : 4, "load" : 0.5, "only" : "",
            "servers" : { "AMQP_LOCKS" : "RabbitMQ 4.3.6" }, "quick" : false,
            "clients" : { }, "skipped" : { }, "failures" : [ ],
            "measurements" : [
              { "scenario" : "ALONE", "kind" : "MUTEX", "metric" : "LATENCY",
                "values" : [ 250.0 ] }
            ],
            "growths" : [
              { "growth" : "SLOTS", "kind" : "QUORUM_TOKENS", "size" : 1, "micros" : [ 500.0 ],
                "server" : null, "overSeconds" : null }
            ]
          }
          """);

  private final Run own =
      Run.parse(
          """
          {
            "date" : "2026-12-24", "commit" : "abc1234", "java" : "25", "processors" : 2,
            "memory" : 25300000000, "load" : 0.1, "only" : "growth",
            "servers" : { "AMQP_LOCKS" : "RabbitMQ 4.3.7" }, "quick" : false,
            "clients" : { }, "skipped" : { }, "failures" : [ ], "measurements" : [ ],
            "growths" : [
              { "growth" : "SLOTS", "kind" : "QUORUM_TOKENS", "size" : 1, "micros" : [ 700.0 ],
                "server" : null, "overSeconds" : null },
              { "growth" : "LOCKS", "kind" : "MUTEX", "size" : 1, "micros" : [ 200.0 ],
                "server" : 9000.0, "overSeconds" : null }
            ]
          }
          """);

  @TempDir private Path folder;
  private String before = "";

  @BeforeEach
  void writeTheWhole() throws Exception {
    before = Files.readString(Report.write(whole, folder));
    assertThat(before).contains(HEADING, "| quorum tokens | amqp-locks | 500 µs |");
  }

  @Test
  void theyAreInThePlaceOfThoseThatWereThere() throws Exception {
    String after = Files.readString(GrowthReport.add(own, folder));
    assertThat(after)
        .containsOnlyOnce(HEADING)
        .contains("| quorum tokens | amqp-locks | 700 µs |", "| mutex | amqp-locks | 200 µs |")
        .doesNotContain("500 µs");
    assertThat(withoutGrowths(after)).isEqualTo(withoutGrowths(before));
    assertThat(folder.resolve("benchmarks/growth-locks.svg")).content().contains("ours: mutex");
    assertThat(Run.parse(Files.readString(folder.resolve("benchmarks/growth.json"))))
        .isEqualTo(own);
    assertThat(Files.readString(GrowthReport.add(own, folder))).isEqualTo(after);
  }

  @Test
  void aPageOfAnOlderTemplateGetsThemToo() throws Exception {
    String older = withoutGrowths(before);
    assertThat(older).doesNotContain(HEADING);
    String after = GrowthReport.added(own, older);
    assertThat(after).containsOnlyOnce(HEADING).contains("| mutex | amqp-locks | 200 µs |");
    assertThat(withoutGrowths(after)).isEqualTo(older);
  }

  @Test
  void thePageSaysThatItWasARunOfItsOwn() throws Exception {
    assertThat(GrowthReport.added(own, before))
        .contains(
            "A run of its own measured this.",
            "(benchmarks/growth.json)",
            "Measured on 2026-12-24 at commit `abc1234`,\non a machine with 2 processors and 25.3"
                + " GB, on Java 25.",
            "| amqp-locks | RabbitMQ 4.3.7 |",
            "Measured on 2026-11-25,\non a machine with 4 processors, on Java 25.",
            "| amqp-locks | RabbitMQ 4.3.6 |");
    assertThat(before).doesNotContain("A run of its own", "{{");
  }

  @Test
  void aWholeRunHasItsOwnAgain() throws Exception {
    GrowthReport.add(own, folder);
    assertThat(Files.readString(Report.write(whole, folder))).isEqualTo(before);
    assertThat(folder.resolve("benchmarks/growth.json")).doesNotExist();
  }

  @Test
  void anotherPageStaysAsItIs() throws Exception {
    Path page = folder.resolve("BENCHMARKS.md");
    Files.writeString(page, "# Another\n");
    assertThatThrownBy(() -> GrowthReport.add(own, folder))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(page).hasContent("# Another");
  }

  @Test
  void thePageOfTheProjectHasWhatItsRawDataHave() throws Exception {
    Path docs = Path.of("..", "docs");
    Path raw = docs.resolve("benchmarks/growth.json");
    String page = Files.readString(docs.resolve("BENCHMARKS.md"));
    assertThat(page.contains("A run of its own")).isEqualTo(Files.exists(raw));
    if (Files.exists(raw)) {
      assertThat(page).isEqualTo(GrowthReport.added(Run.parse(Files.readString(raw)), page));
    }
  }

  private static String withoutGrowths(String page) {
    return page.replaceFirst("(?s)" + HEADING + ".*?(?=\n## )\n", "");
  }
}
