package io.amqplocks.benchmarks.scale;

import java.util.List;
import java.util.stream.Stream;

/** A run whose lines are known. The last of each is not on its line. */
final class Runs {

  private static final double OFF = 5e6;

  private Runs() {}

  static ScaleRun known() {
    return new ScaleRun(
        false,
        "4.3.6",
        "25",
        2,
        10_000_000_000L,
        0.1,
        0.004,
        List.of(
            growth(Subject.USED, 60e6, 40e3, 70e3),
            growth(Subject.HELD, 60e6, 50e3, 80e3),
            growth(Subject.CONNECTED, 60e6, 70e3, 100e3),
            growth(Subject.HOLDING, 60e6, 160e3, 240e3)),
        List.of(
            new Cost(Operation.CYCLE, Kind.MUTEX, List.of(300.0, 250.0, 900.0), List.of(0.0)),
            new Cost(Operation.CYCLE, Kind.FENCED_MUTEX, List.of(1_000.0), List.of(5_000.0))),
        List.of(
            new Return(1_000, Subject.HOLDING, 5.25, 9, Double.POSITIVE_INFINITY, 30, 2),
            new Return(1, Subject.CONTENDING, 4, 4, 4, 3, 0)),
        List.of("clients: late\nOutput:"));
  }

  private static Growth growth(Subject subject, double base, double memory, double resident) {
    List<Reading> readings =
        Stream.of(1, 100, 300, 1_000)
            .map(
                count ->
                    new Reading(
                        count,
                        (long) (base + count * memory + (count == 1_000 ? OFF : 0)),
                        (long) (2 * base + count * resident),
                        300 + 20L * count,
                        30_000,
                        count == 1 ? Double.NaN : 0.005 + count * 1e-4,
                        count == 1 ? Double.NaN : 0))
            .toList();
    return new Growth(subject, Kind.MUTEX, readings);
  }
}
