package io.amqplocks.benchmarks;

/**
 * One line of the table.
 *
 * @param what was measured
 * @param unit of both numbers
 * @param ours the median of the library's, NaN if there is none yet
 * @param floor the median of the bare client's, NaN if there is none
 * @param goal what the ratio or the number should be
 * @param remark what the floor is, and what else is worth knowing
 */
public record Row(String what, Unit unit, double ours, double floor, Goal goal, String remark) {

  /** A time, in nanoseconds, as samples are. */
  static Row time(String what, Samples ours, Samples floor, Goal goal, String remark) {
    return new Row(what, Unit.MICROS, ours.median() / 1e3, floor.median() / 1e3, goal, remark);
  }

  /** Ours by the floor. */
  public double ratio() {
    return ours / floor;
  }

  /** Whether the goal is met. */
  public Goal.Verdict verdict() {
    return goal.judge(this);
  }
}
