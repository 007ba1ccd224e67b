package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Markdown;
import io.amqplocks.benchmarks.Samples;
import io.amqplocks.benchmarks.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The part of the page about growths. */
final class GrowthReport {

  private GrowthReport() {}

  static String section(Run run, Growth growth, String pictures) {
    if (of(run, growth).isEmpty()) {
      return "Not measured.";
    }
    return "![%s](%s/%s)\n\n%s"
        .formatted(
            growth.title(), pictures, picture(growth), Markdown.table(lines(run, growth), 2));
  }

  static String picture(Growth growth) {
    return "growth-" + growth.name().toLowerCase(Locale.ROOT) + ".svg";
  }

  /** All that a run has of it. */
  static List<Grown> of(Run run, Growth growth) {
    return run.growths().stream().filter(each -> each.growth() == growth).toList();
  }

  /** The kinds of it, in the order of the tables. */
  static List<Kind> kinds(List<Grown> all) {
    return all.stream().map(Grown::kind).distinct().sorted().toList();
  }

  /** A line for each kind, with a column for each size; and the head. */
  static List<List<String>> lines(Run run, Growth growth) {
    List<Grown> all = of(run, growth);
    List<Integer> sizes = all.stream().map(Grown::size).distinct().sorted().toList();
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(growth.title(), "system"));
    sizes.forEach(size -> head.add(String.format(Locale.ROOT, "p50 at %,d", size)));
    head.add("last / first");
    if (growth != Growth.SLOTS) {
      head.add(growth == Growth.LOCKS ? "server memory" : "server CPU");
    }
    lines.add(head);
    for (Kind kind : kinds(all)) {
      List<Grown> mine = all.stream().filter(each -> each.kind() == kind).toList();
      List<String> line = new ArrayList<>(List.of(kind.title(), kind.peer().title()));
      sizes.forEach(size -> line.add(cell(mine, size)));
      List<Grown> measured = mine.stream().filter(each -> !each.micros().isEmpty()).toList();
      line.add(ratio(measured));
      if (growth != Growth.SLOTS) {
        line.add(server(growth, measured));
      }
      lines.add(line);
    }
    return lines;
  }

  private static String cell(List<Grown> mine, int size) {
    Optional<Grown> grown = mine.stream().filter(each -> each.size() == size).findFirst();
    if (grown.isEmpty()) {
      return "";
    }
    Long over = grown.get().overSeconds();
    return over != null ? "over " + over + " s" : Unit.MICROS.format(median(grown.get()));
  }

  private static String ratio(List<Grown> measured) {
    return measured.size() < 2
        ? ""
        : Unit.TIMES.format(median(measured.get(measured.size() - 1)) / median(measured.get(0)));
  }

  /** At the largest size that it has. */
  private static String server(Growth growth, List<Grown> measured) {
    Double server = measured.isEmpty() ? null : measured.get(measured.size() - 1).server();
    Unit unit = growth == Growth.LOCKS ? Unit.BYTES : Unit.MICROS;
    return server == null ? "" : unit.format(server);
  }

  static double median(Grown grown) {
    Samples samples = new Samples();
    grown.micros().forEach(samples::add);
    return samples.median();
  }
}
