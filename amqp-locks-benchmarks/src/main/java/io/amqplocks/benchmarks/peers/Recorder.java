package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** Collects the numbers of one scenario. For one thread. */
final class Recorder {

  private record Series(Kind kind, Metric metric) {}

  private final Scenario scenario;
  private final Map<Series, List<Double>> values = new LinkedHashMap<>();
  private final List<String> failures = new ArrayList<>();

  Recorder(Scenario scenario) {
    this.scenario = scenario;
  }

  void add(Kind kind, Metric metric, double value) {
    // More digits than the clock has would only make the file larger.
    double rounded = Double.isInfinite(value) ? value : Math.rint(value * 1e3) / 1e3;
    values.computeIfAbsent(new Series(kind, metric), none -> new ArrayList<>()).add(rounded);
  }

  /** This went wrong with a kind of lock: a result too, of which the others are independent. */
  void fail(Kind kind, Exception why) {
    Throwable cause =
        why instanceof ExecutionException && why.getCause() != null ? why.getCause() : why;
    String failure = scenario.title() + ", " + kind.title() + ": " + cause;
    System.err.println(failure);
    failures.add(failure);
  }

  /** What went wrong. */
  List<String> failures() {
    return failures;
  }

  /** What was collected so far, in the order of kinds: they took turns in another one. */
  List<Measurement> measurements() {
    List<Measurement> all = new ArrayList<>();
    values.forEach(
        (series, numbers) ->
            all.add(new Measurement(scenario, series.kind(), series.metric(), numbers)));
    all.sort(Comparator.comparing(Measurement::kind).thenComparing(Measurement::metric));
    return all;
  }
}
