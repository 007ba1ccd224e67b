package io.amqplocks.benchmarks.scale;

import io.amqplocks.benchmarks.Samples;
import java.util.List;

/**
 * What one operation costs the broker.
 *
 * @param operation what was done
 * @param kind with which locks
 * @param micros time on a processor, in microseconds; a number for each pass
 * @param written bytes to the disk; a number for each pass
 */
record Cost(Operation operation, Kind kind, List<Double> micros, List<Double> written) {

  Cost {
    micros = List.copyOf(micros);
    written = List.copyOf(written);
  }

  double medianMicros() {
    return median(micros);
  }

  double medianWritten() {
    return median(written);
  }

  private static double median(List<Double> values) {
    Samples samples = new Samples();
    values.forEach(samples::add);
    return samples.median();
  }
}
