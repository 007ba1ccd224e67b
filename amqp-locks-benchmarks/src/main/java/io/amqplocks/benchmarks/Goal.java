package io.amqplocks.benchmarks;

import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The number that a row of the table has to reach, and how it is judged. The module's README says
 * how to read the verdicts.
 *
 * @param text the goal as the table shows it
 * @param judged the number of a row that is compared
 * @param bound the number that it is compared with
 * @param atMost whether less is better
 */
public record Goal(String text, ToDoubleFunction<Row> judged, double bound, boolean atMost) {

  /** Printed for the reader; not counted. */
  public static final Goal NONE = new Goal("none", row -> Double.NaN, Double.NaN, true);

  /** Whether a row reached its goal. */
  public enum Verdict {
    MET,
    MISSED,
    NOT_JUDGED
  }

  /** Ours is at most so many times the floor. */
  public static Goal atMostTimes(double bound) {
    return new Goal("≤ " + number(bound) + " ×", Row::ratio, bound, true);
  }

  /** Ours is at least so many times the floor. */
  public static Goal atLeastTimes(double bound) {
    return new Goal("≥ " + number(bound) + " ×", Row::ratio, bound, false);
  }

  /** Ours is at least that. */
  static Goal atLeast(double bound, Unit unit) {
    return new Goal("≥ " + unit.format(bound), Row::ours, bound, false);
  }

  /** Ours is at most that. */
  static Goal atMost(double bound, Unit unit) {
    return new Goal("≤ " + unit.format(bound), Row::ours, bound, true);
  }

  Verdict judge(Row row) {
    if (Double.isNaN(bound)) {
      return Verdict.NOT_JUDGED;
    }
    double value = judged.applyAsDouble(row);
    // What could not be measured (NaN) has not met anything.
    boolean met = atMost ? value <= bound : value >= bound;
    return met ? Verdict.MET : Verdict.MISSED;
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.format(Locale.ROOT, "%s", value);
  }
}
