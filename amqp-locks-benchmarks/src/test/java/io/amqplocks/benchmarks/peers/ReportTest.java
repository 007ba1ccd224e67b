package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the file of a run to the page. */
class ReportTest {

  private static final String JSON =
      """
      {
        "date" : "2026-11-25", "quick" : false, "only" : "", "java" : "25", "processors" : 4,
        "load" : 0.5,
        "servers" : { "AMQP_LOCKS" : "RabbitMQ 4.3.6", "REDISSON" : "Redis 7.0.15" },
        "clients" : { "AMQP_LOCKS" : "amqp-client-5.28.0", "REDISSON" : "redisson-4.0.0" },
        "skipped" : { "JETCD" : "etcd is not installed" },
        "failures" : [ "hand-over, RFairLock: late\\nOutput:" ],
        "measurements" : [
          { "scenario" : "ALONE", "kind" : "MUTEX", "metric" : "LATENCY",
            "values" : [ 250.0, 200.0, 900.0 ] },
          { "scenario" : "ALONE", "kind" : "R_LOCK", "metric" : "LATENCY",
            "values" : [ 240.0, 230.0, 300.0 ] },
          { "scenario" : "CLIENTS", "kind" : "MUTEX", "metric" : "RATE",
            "values" : [ 3000.0 ] },
          { "scenario" : "CLIENTS", "kind" : "MUTEX", "metric" : "LEAST_SHARE",
            "values" : [ 0.5 ] },
          { "scenario" : "CLIENTS", "kind" : "R_LOCK", "metric" : "RATE",
            "values" : [ 1000.0 ] },
          { "scenario" : "PROCESSES", "kind" : "MUTEX", "metric" : "RATE",
            "values" : [ 2000.0 ] },
          { "scenario" : "PROCESSES", "kind" : "MUTEX", "metric" : "LEAST_SHARE",
            "values" : [ 0.9 ] },
          { "scenario" : "PROCESSES", "kind" : "MUTEX", "metric" : "SERVER_CPU",
            "values" : [ 300.0, 90.0, 120.0 ] },
          { "scenario" : "PROCESSES", "kind" : "MUTEX", "metric" : "CLIENT_CPU",
            "values" : [ 400.0 ] },
          { "scenario" : "PROCESSES", "kind" : "R_LOCK", "metric" : "RATE",
            "values" : [ 1000.0 ] },
          { "scenario" : "PROCESSES", "kind" : "R_LOCK", "metric" : "SERVER_CPU",
            "values" : [ 240.0 ] },
          { "scenario" : "PROCESSES", "kind" : "JETCD_LOCK", "metric" : "RATE",
            "values" : [ 80.0 ] },
          { "scenario" : "PROCESSES", "kind" : "JETCD_LOCK", "metric" : "SERVER_CPU",
            "values" : [ 900.0 ] },
          { "scenario" : "DEATH", "kind" : "MUTEX", "metric" : "FREED",
            "values" : [ 1234.0 ] },
          { "scenario" : "DEATH", "kind" : "R_SEMAPHORE", "metric" : "FREED",
            "values" : [ "Infinity" ] }
        ],
        "growths" : [
          { "growth" : "SLOTS", "kind" : "QUORUM_TOKENS", "size" : 1, "micros" : [ 500.0 ],
            "server" : null, "overSeconds" : null },
          { "growth" : "SLOTS", "kind" : "QUORUM_TOKENS", "size" : 1000,
            "micros" : [ 900.0, 750.0, 700.0 ], "server" : null, "overSeconds" : null },
          { "growth" : "LOCKS", "kind" : "MUTEX", "size" : 1, "micros" : [ 200.0 ],
            "server" : 9000.0, "overSeconds" : null },
          { "growth" : "LOCKS", "kind" : "MUTEX", "size" : 100, "micros" : [ 220.0 ],
            "server" : 30000.0, "overSeconds" : null },
          { "growth" : "LOCKS", "kind" : "MUTEX", "size" : 10000, "micros" : [ ],
            "server" : null, "overSeconds" : 60 }
        ]
      }
      """;

  private final Run run = Run.parse(JSON);

  @Test
  void aRunSurvivesItsFile() {
    assertThat(Run.parse(run.json())).isEqualTo(run);
  }

  @Test
  void thePageHasTheNumbers() throws Exception {
    assertThat(Report.page(run))
        .contains(
            "| mutex | amqp-locks | 250 µs | 900 µs |",
            "| mutex | amqp-locks | 3,000 /s | 50.0 % |",
            "| RSemaphore(5) | Redisson | not in 60 s |",
            "| Redisson | Redis 7.0.15 | redisson-4.0.0 |")
        .doesNotContain("{{", "Infinity", "NaN");
  }

  @Test
  void thePageSaysWhatIsMissing() throws Exception {
    assertThat(Report.page(run))
        .contains(
            "| jetcd | skipped: etcd is not installed |",
            "| hand-over, RFairLock: late |",
            "- not measured: 8 separate clients: mutex / RFairLock",
            "Not measured.");
  }

  /** Such a run was before there was that kind. */
  @Test
  void aKindThatARunDidNotHaveHasNoRow() throws Exception {
    assertThat(Report.page(run))
        .doesNotContain("| " + Kind.SLOT_SEMAPHORE.title() + " |")
        .doesNotContain(": " + Kind.WRITE_LOCK.title() + " / ");
  }

  @Test
  void growthsHaveAColumnForEachSizeAndSayWhatWasGivenUp() throws Exception {
    assertThat(Report.page(run))
        .contains(
            "| growth, 1 to 1,000 slots | system | p50 at 1 | p50 at 1,000 | last / first |",
            "| quorum tokens | amqp-locks | 500 µs | 750 µs | 1.50 × |",
            "| mutex | amqp-locks | 200 µs | 220 µs | over 60 s | 1.10 × | 30,000 B |",
            "](benchmarks/growth-slots.svg)")
        .doesNotContain("growth-waiters.svg");
  }

  @Test
  void theFileOfAnOlderRunHasNoGrowths() {
    String older = JSON.replaceFirst("(?s),\\s*\"growths\".*", "\n}");
    assertThat(Run.parse(older).growths()).isEmpty();
  }

  @Test
  void goalsAreJudged() throws Exception {
    assertThat(Report.page(run))
        .contains(
            "| alone: mutex / RLock | 250 µs | 240 µs | 1.042 | ≤ 1 × | missed |",
            "| 8 separate clients: mutex / RLock | 3,000 /s | 1,000 /s | 3.000 | ≥ 2.6 × | met |",
            "**goals: 1 met, 1 missed**");
  }

  @Test
  void whatALeaseCostsIsBesideRedisAndZooKeeperOnly() throws Exception {
    assertThat(Report.page(run))
        .contains(
            "| mutex | amqp-locks | 2,000 /s | 90.0 % | 120 µs | 400 µs |",
            "| RLock | Redisson | 1,000 /s |  | 240 µs |  |",
            "| 4 processes with 4 threads each, server CPU of a lease: mutex / RLock"
                + " | 120 µs | 240 µs | 0.500 |  |  |")
        .doesNotContain("server CPU of a lease: mutex / jetcd Lock");
  }

  @Test
  void aDisturbedRunSaysSo() throws Exception {
    assertThat(Report.page(run)).doesNotContain("Do not quote", "A quick run");
    Run busy =
        new Run(
            run.date(),
            true,
            "",
            null,
            run.java(),
            2,
            null,
            9.5,
            run.servers(),
            run.clients(),
            Map.of(),
            List.of(),
            List.of(),
            List.of());
    assertThat(Report.page(busy)).contains("9.5 processes wanted one of its 2", "A quick run");
  }

  @Test
  void thePicturesHaveABarForEachKind(@TempDir Path folder) throws Exception {
    Path page = Report.write(run, folder);
    String text = Files.readString(page);
    assertThat(text).isEqualTo(Report.page(run));
    assertThat(folder.resolve("benchmarks"))
        .isDirectoryNotContaining("glob:**hand-over*")
        .isDirectoryContaining("glob:**clients.svg");
    assertThat(text).contains("](benchmarks/alone.svg)");
    assertThat(folder.resolve("benchmarks/alone.svg"))
        .content()
        .contains("<svg", "RLock", "alone: less is better");
    assertThat(folder.resolve("benchmarks/growth-locks.svg"))
        .content()
        // The numbers of the axes are text, and not the outlines of letters.
        .contains("<svg", "ours: mutex", "flat is better", ">1,000<");
    assertThat(folder.resolve("benchmarks/growth-waiters.svg")).doesNotExist();
    // What has no end has no bar.
    assertThat(folder.resolve("benchmarks/death.svg"))
        .content()
        .contains("mutex")
        .doesNotContain("RSemaphore");
  }

  @Test
  void allPeersHaveComparisons() {
    assertThat(Comparison.all())
        .extracting(each -> each.peer().peer())
        .doesNotContain(Peer.AMQP_LOCKS)
        .containsAll(EnumSet.complementOf(EnumSet.of(Peer.AMQP_LOCKS)));
  }
}
