package io.amqplocks.benchmarks;

import io.amqplocks.benchmarks.Goal.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/**
 * The rows, as text for people and for programs.
 *
 * @param head the names of the columns
 * @param rows in order
 */
public record Table(List<String> head, List<Row> rows) {

  private static final List<String> HEAD =
      List.of("what", "p50 ours", "p50 floor", "ratio", "goal", "", "floor, remarks");

  Table(List<Row> rows) {
    this(HEAD, rows);
  }

  /** The table, without the last line. */
  public String text() {
    List<List<String>> lines = new ArrayList<>(List.of(head));
    rows.forEach(row -> lines.add(cells(row)));
    return aligned(lines, column -> column >= 1 && column <= 3);
  }

  /** Lines of as many cells each, as columns; those of numbers are aligned at the right. */
  public static String aligned(List<List<String>> lines, IntPredicate isNumber) {
    int[] widths = new int[lines.get(0).size()];
    for (List<String> line : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    return lines.stream()
        .map(line -> line(line, widths, isNumber))
        .collect(Collectors.joining("\n"));
  }

  /** {@code goals: X met, Y missed}. */
  public String result() {
    return "goals: %d met, %d missed".formatted(count(Verdict.MET), count(Verdict.MISSED));
  }

  /** One line a row, numbers as they are. */
  String csv() {
    return rows.stream()
        .map(
            row ->
                String.format(
                    Locale.ROOT,
                    "%s,%s,%.3f,%.3f,%.4f,%s,%s,%s%n",
                    quoted(row.what().strip()),
                    row.unit(),
                    row.ours(),
                    row.floor(),
                    row.ratio(),
                    quoted(row.goal().text()),
                    row.verdict(),
                    quoted(row.remark())))
        .collect(Collectors.joining("", "what,unit,ours,floor,ratio,goal,verdict,remark\n", ""));
  }

  private static String quoted(String cell) {
    return '"' + cell.replace("\"", "\"\"") + '"';
  }

  private long count(Verdict verdict) {
    return rows.stream().filter(row -> row.verdict() == verdict).count();
  }

  private static List<String> cells(Row row) {
    return List.of(
        row.what(),
        row.unit().format(row.ours()),
        row.unit().format(row.floor()),
        Double.isNaN(row.ratio()) ? "-" : String.format(Locale.ROOT, "%.3f", row.ratio()),
        row.goal().text(),
        switch (row.verdict()) {
          case MET -> "met";
          case MISSED -> "MISSED";
          case NOT_JUDGED -> "";
        },
        row.remark());
  }

  private static String line(List<String> cells, int[] widths, IntPredicate isNumber) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String padding = " ".repeat(widths[i] - cells.get(i).length());
      line.append(isNumber.test(i) ? padding + cells.get(i) : cells.get(i) + padding).append("  ");
    }
    return line.toString().stripTrailing();
  }
}
