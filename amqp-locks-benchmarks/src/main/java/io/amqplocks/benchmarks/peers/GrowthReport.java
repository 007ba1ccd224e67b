package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Markdown;
import io.amqplocks.benchmarks.Samples;
import io.amqplocks.benchmarks.Unit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The part of the page about growths. */
final class GrowthReport {

  /** Where the raw data of a run of its own is, in the folder of the page. */
  static final String RAW = Report.PICTURES + "/growth.json";

  private static final String OF_ITS_OWN =
      """
      **A run of its own measured this.** So compare these numbers with each other, not with those
      of the tables above and below. All of them are in its [raw data](%s).

      """
          .formatted(RAW);

  /** The heading after the section. */
  private static final String NEXT = "## Free after the death of the holder\n";

  private GrowthReport() {}

  /**
   * Puts what a run of its own has measured into the page of another run, in place of what that
   * page had about growths. Its pictures and raw data are beside the others.
   */
  static Path add(Run run, Path docs) throws IOException {
    Path page = docs.resolve(Report.PAGE);
    String text = added(run, Files.readString(page));
    pictures(run, Files.createDirectories(docs.resolve(Report.PICTURES)));
    Files.writeString(docs.resolve(RAW), run.json() + "\n");
    return Files.writeString(page, text);
  }

  /** The page with this in the place of its section about growths, which it may lack. */
  static String added(Run run, String page) throws IOException {
    String section = section(run, OF_ITS_OWN + Report.where(run));
    int end = page.indexOf(NEXT);
    if (end < 0) {
      throw new IllegalArgumentException("The page has no line " + NEXT.strip());
    }
    String heading = section.substring(0, section.indexOf('\n') + 1);
    int start = page.indexOf(heading);
    return page.substring(0, start < 0 ? end : start) + section + "\n\n" + page.substring(end);
  }

  /**
   * What the page says about growths.
   *
   * @param where they were measured; empty if with the rest of the page
   */
  static String section(Run run, String where) throws IOException {
    String section = Report.template("GROWTH.md").strip();
    section = section.replace("{{run}}\n\n", where.isEmpty() ? "" : where + "\n\n");
    section = section.replace("{{connections}}", String.valueOf(PostgresqlServer.CONNECTIONS));
    for (Growth growth : Growth.values()) {
      section = section.replace("{{" + growth + "}}", section(run, growth));
      String limit = growth.limit().toSeconds() + " s";
      section = section.replace("{{" + growth + "_LIMIT}}", limit);
    }
    return section;
  }

  private static String section(Run run, Growth growth) {
    return of(run, growth).isEmpty()
        ? "Not measured."
        : "![%s](%s/%s)\n\n%s"
            .formatted(
                growth.title(),
                Report.PICTURES,
                picture(growth),
                Markdown.table(lines(run, growth), 2));
  }

  static void pictures(Run run, Path folder) throws IOException {
    for (Growth growth : Growth.values()) {
      if (!of(run, growth).isEmpty()) {
        GrowthPicture.write(run, growth, folder.resolve(picture(growth)));
      }
    }
  }

  private static String picture(Growth growth) {
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
      List<String> line = new ArrayList<>(List.of(kind.titleOfAnySize(), kind.peer().title()));
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
