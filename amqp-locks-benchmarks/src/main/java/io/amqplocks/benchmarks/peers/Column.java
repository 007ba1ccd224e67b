package io.amqplocks.benchmarks.peers;

import java.util.List;

/**
 * Which number of each kind of lock is shown.
 *
 * @param title at the head
 * @param scenario in which it was measured
 * @param metric what it is
 * @param percentile of all values; 50 is the median
 */
record Column(String title, Scenario scenario, Metric metric, int percentile) {

  private static final List<Column> ALL =
      List.of(
          new Column("p50", Scenario.ALONE, Metric.LATENCY, 50),
          new Column("p99", Scenario.ALONE, Metric.LATENCY, 99),
          new Column("p50", Scenario.NEW_NAME, Metric.LATENCY, 50),
          new Column("p99", Scenario.NEW_NAME, Metric.LATENCY, 99),
          new Column("p50", Scenario.BUSY, Metric.LATENCY, 50),
          new Column("p99", Scenario.BUSY, Metric.LATENCY, 99),
          new Column("leases", Scenario.THREADS, Metric.RATE, 50),
          new Column("leases", Scenario.CLIENTS, Metric.RATE, 50),
          new Column("least served", Scenario.CLIENTS, Metric.LEAST_SHARE, 50),
          new Column("server CPU", Scenario.CLIENTS, Metric.SERVER_CPU, 50),
          new Column("leases", Scenario.PROCESSES, Metric.RATE, 50),
          new Column("least served", Scenario.PROCESSES, Metric.LEAST_SHARE, 50),
          new Column("server CPU", Scenario.PROCESSES, Metric.SERVER_CPU, 50),
          new Column("client CPU", Scenario.PROCESSES, Metric.CLIENT_CPU, 50),
          new Column("p50", Scenario.HAND_OVER, Metric.LATENCY, 50),
          new Column("p99", Scenario.HAND_OVER, Metric.LATENCY, 99),
          new Column("p50", Scenario.PROCESS_HAND_OVER, Metric.LATENCY, 50),
          new Column("p90", Scenario.PROCESS_HAND_OVER, Metric.LATENCY, 90),
          new Column("p50, last tenth", Scenario.HELD, Metric.LATENCY, 50),
          new Column("last / first", Scenario.HELD, Metric.GROWTH, 50),
          new Column("server memory", Scenario.HELD, Metric.MEMORY, 50),
          new Column("client heap", Scenario.HELD, Metric.CLIENT_HEAP, 50),
          new Column("verification", Scenario.HELD, Metric.VERIFICATION, 50),
          new Column("free after", Scenario.DEATH, Metric.FREED, 50));

  /** Those of a scenario. */
  static List<Column> of(Scenario scenario) {
    return ALL.stream().filter(column -> column.scenario == scenario).toList();
  }

  /** The cell of a kind; empty if it was not measured. */
  String cell(Run run, Kind kind) {
    return run.find(scenario, kind, metric)
        .map(measured -> format(measured.percentile(percentile)))
        .orElse("");
  }

  private String format(double value) {
    return Double.isInfinite(value)
        ? "not in %d s".formatted(Deaths.PATIENCE.toSeconds())
        : metric.unit().format(value);
  }
}
