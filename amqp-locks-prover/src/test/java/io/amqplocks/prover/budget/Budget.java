package io.amqplocks.prover.budget;

import io.amqplocks.test.BrokerVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What each operation may take, as the file says that is beside this class. */
final class Budget {

  private static final String FILE = "frame-budget.txt";

  /** A figure as it must be: {@code 3}, or {@code 3-5} where it may vary. */
  private record Allowed(int least, int most) {

    static Allowed parse(String text) {
      String[] bounds = text.split("-", 2);
      int least = Integer.parseInt(bounds[0]);
      return new Allowed(least, bounds.length == 1 ? least : Integer.parseInt(bounds[1]));
    }

    boolean contains(int figure) {
      return least <= figure && figure <= most;
    }

    @Override
    public String toString() {
      return least == most ? String.valueOf(least) : least + "-" + most;
    }
  }

  private record Row(BrokerVersion from, String lock, String operation, List<Allowed> figures) {}

  private final List<Row> rows;

  private Budget(List<Row> rows) {
    this.rows = rows;
  }

  /** The file's budget for a broker. */
  static Budget of(BrokerVersion broker) throws IOException {
    try (InputStream file = Objects.requireNonNull(Budget.class.getResourceAsStream(FILE), FILE)) {
      return parse(new String(file.readAllBytes(), StandardCharsets.UTF_8), broker);
    }
  }

  /** A line for a newer broker replaces one for an older, and none for a newer than this counts. */
  static Budget parse(String text, BrokerVersion broker) {
    List<Row> rows = new ArrayList<>();
    for (String line : text.lines().toList()) {
      String content = line.replaceFirst("#.*", "").strip();
      if (!content.isEmpty()) {
        Row row = row(content);
        if (row.from().compareTo(broker) <= 0) {
          rows.removeIf(old -> isFor(old, row.lock(), row.operation()));
          rows.add(row);
        }
      }
    }
    return new Budget(rows);
  }

  private static Row row(String line) {
    String[] words = line.split(" +", -1);
    if (words.length != 3 + Figures.NAMES.size()) {
      throw new IllegalArgumentException("Not a line of a frame budget: " + line);
    }
    List<Allowed> figures = new ArrayList<>();
    for (int i = 3; i < words.length; i++) {
      figures.add(Allowed.parse(words[i]));
    }
    return new Row(BrokerVersion.parse(words[0]), words[1], words[2], figures);
  }

  private static boolean isFor(Row row, String lock, String operation) {
    return row.lock().equals(lock) && row.operation().equals(operation);
  }

  /** The operations that it has, such as {@code mutex acquire}. */
  Set<String> operations() {
    return rows.stream()
        .map(row -> row.lock() + " " + row.operation())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** What is wrong with these figures, in words for whoever changed them; empty if nothing is. */
  Optional<String> complaint(String lock, String operation, Figures measured) {
    Optional<Row> found = rows.stream().filter(row -> isFor(row, lock, operation)).findFirst();
    if (found.isEmpty()) {
      return Optional.of(lock + " " + operation + " has no line in " + FILE);
    }
    List<String> wrong = new ArrayList<>();
    for (int i = 0; i < Figures.NAMES.size(); i++) {
      Allowed allowed = found.get().figures().get(i);
      int figure = measured.values().get(i);
      if (!allowed.contains(figure)) {
        wrong.add("%s is %d, not %s".formatted(Figures.NAMES.get(i), figure, allowed));
      }
    }
    return wrong.isEmpty()
        ? Optional.empty()
        : Optional.of(lock + " " + operation + ": " + String.join(", ", wrong));
  }
}
