package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.benchmarks.Goal.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

  private static Row row(double ours, double floor, Goal goal) {
    return new Row("a row", Unit.MICROS, ours, floor, goal, "a \"remark\"");
  }

  @Test
  void aRatioIsJudgedByItsBound() {
    assertThat(row(115, 100, Goal.atMostTimes(1.15)).verdict()).isEqualTo(Verdict.MET);
    assertThat(row(116, 100, Goal.atMostTimes(1.15)).verdict()).isEqualTo(Verdict.MISSED);
    assertThat(row(50, 100, Goal.atLeastTimes(0.5)).verdict()).isEqualTo(Verdict.MET);
    assertThat(row(49, 100, Goal.atLeastTimes(0.5)).verdict()).isEqualTo(Verdict.MISSED);
  }

  @Test
  void aNumberIsJudgedWithoutAFloor() {
    Goal goal = Goal.atMost(4096, Unit.BYTES);
    assertThat(row(4096, Double.NaN, goal).verdict()).isEqualTo(Verdict.MET);
    assertThat(row(4097, Double.NaN, goal).verdict()).isEqualTo(Verdict.MISSED);
  }

  @Test
  void whatCouldNotBeMeasuredHasNotMetItsGoal() {
    assertThat(row(Double.NaN, 100, Goal.atMostTimes(2)).verdict()).isEqualTo(Verdict.MISSED);
    assertThat(row(Double.NaN, 100, Goal.atLeastTimes(2)).verdict()).isEqualTo(Verdict.MISSED);
  }

  @Test
  void countsOnlyRowsWithAGoal() {
    Table table =
        new Table(
            List.of(
                row(1, 1, Goal.atMostTimes(2)),
                row(3, 1, Goal.atMostTimes(2)),
                row(9, 1, Goal.NONE),
                row(4, 1, Goal.atLeastTimes(3))));
    assertThat(table.result()).isEqualTo("goals: 2 met, 1 missed");
  }

  @Test
  void saysWhatWasMeasured() {
    Table table = new Table(List.of(row(250, 100, Goal.atMostTimes(1.5))));
    assertThat(table.text().lines())
        .hasSize(2)
        .last()
        .asString()
        .containsSubsequence("a row", "250 µs", "100 µs", "2.500", "≤ 1.5 ×", "MISSED", "remark");
  }

  @Test
  void aCellOfTheCsvMayHoldAnything() {
    Table table = new Table(List.of(row(250, 100, Goal.NONE)));
    assertThat(table.csv().lines())
        .last()
        .isEqualTo(
            "\"a row\",MICROS,250.000,100.000,2.5000,\"none\",NOT_JUDGED,\"a \"\"remark\"\"\"");
  }
}
