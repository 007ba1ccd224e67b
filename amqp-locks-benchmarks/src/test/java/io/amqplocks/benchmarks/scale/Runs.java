package io.amqplocks.benchmarks.scale;

import java.util.List;
import java.util.stream.Stream;

/**
 * A run whose lines are known. The last of each is not on its line, and neither is the first, which
 * has what the start of the broker left over.
 */
final class Runs {

  /** How much more memory the last reading has. */
  static final double OFF = 5e6;

  private static final double LEFT_OVER = 30e6;

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
            growth(Subject.USED, Kind.MUTEX, 40e3, 70e3),
            growth(Subject.HELD, Kind.MUTEX, 50e3, 80e3),
            growth(Subject.USED, Kind.CLASSIC_TOKENS, 100e3, 150e3),
            growth(Subject.HELD, Kind.CLASSIC_TOKENS, -60e3, -90e3),
            growth(Subject.CONNECTED, Kind.MUTEX, 70e3, 100e3),
            growth(Subject.HOLDING, Kind.MUTEX, 160e3, 240e3)),
        List.of(
            new Cost(Operation.CYCLE, Kind.MUTEX, List.of(300.0, 250.0, 900.0), List.of(0.0)),
            new Cost(Operation.CYCLE, Kind.FENCED_MUTEX, List.of(1_000.0), List.of(5_000.0))),
        List.of(
            new Return(1_000, Subject.HOLDING, 5.25, 9, Double.POSITIVE_INFINITY, 30, 2),
            new Return(1, Subject.CONTENDING, 4, 4, 4, 3, 0)),
        List.of("clients: late\nOutput:"));
  }

  private static Growth growth(Subject subject, Kind kind, double memory, double resident) {
    List<Reading> readings =
        Stream.of(1, 100, 300, 1_000)
            .map(
                count -> {
                  double off = count == 1_000 ? OFF : 0;
                  double leftOver = count == 1 ? LEFT_OVER : 0;
                  return new Reading(
                      count,
                      (long) (60e6 + count * memory + off + leftOver),
                      (long) (120e6 + count * resident + 1.5 * off + 3 * leftOver),
                      300 + 20L * count,
                      30_000,
                      count == 1 ? Double.NaN : 0.005 + count * 1e-4,
                      count == 1 ? Double.NaN : 10.0 * count);
                })
            .toList();
    return new Growth(subject, kind, readings);
  }
}
