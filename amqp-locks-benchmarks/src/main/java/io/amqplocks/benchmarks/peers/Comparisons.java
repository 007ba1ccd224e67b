package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Goal;
import io.amqplocks.benchmarks.Row;
import io.amqplocks.benchmarks.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a run says about the goals. */
final class Comparisons {

  private static final List<String> HEAD =
      List.of("ours / peer", "ours", "peer", "ratio", "goal", "", "");

  private Comparisons() {}

  /** A row for each comparison that the run has both sides of, and for the spread of hand-over. */
  static Table table(Run run) {
    List<Row> rows = new ArrayList<>();
    for (Comparison each : Comparison.all()) {
      each.row(run).ifPresent(rows::add);
    }
    spread(run).ifPresent(rows::add);
    return new Table(HEAD, rows);
  }

  /** The goals that this run cannot judge, because a peer is missing; if it was to judge all. */
  static List<String> notMeasured(Run run) {
    if (!run.only().isEmpty()) {
      return List.of();
    }
    return Comparison.all().stream()
        .filter(each -> !each.goal().equals(Goal.NONE) && each.row(run).isEmpty())
        .map(Comparison::title)
        .toList();
  }

  private static Optional<Row> spread(Run run) {
    return run.find(Scenario.HAND_OVER, Kind.MUTEX, Metric.LATENCY)
        .map(
            times ->
                new Row(
                    Scenario.HAND_OVER.title() + ": mutex, p99 / p50",
                    Metric.LATENCY.unit(),
                    times.percentile(99),
                    times.median(),
                    Goal.atMostTimes(10),
                    "less is better"));
  }
}
