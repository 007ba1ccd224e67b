package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Samples;
import java.util.List;

/**
 * All numbers of one kind of lock in one scenario.
 *
 * @param scenario what was done
 * @param kind with what
 * @param metric what the numbers are
 * @param values in the order of measuring
 */
record Measurement(Scenario scenario, Kind kind, Metric metric, List<Double> values) {

  Measurement {
    values = List.copyOf(values);
  }

  double median() {
    return percentile(50);
  }

  double percentile(double percent) {
    Samples samples = new Samples();
    values.forEach(samples::add);
    return samples.percentile(percent);
  }
}
