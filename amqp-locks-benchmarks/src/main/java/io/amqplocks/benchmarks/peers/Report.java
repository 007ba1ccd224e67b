package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Goal.Verdict;
import io.amqplocks.benchmarks.Markdown;
import io.amqplocks.benchmarks.Row;
import io.amqplocks.benchmarks.Table;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The page about a run: a template, whose gaps are filled with tables and pictures. */
final class Report {

  static final String PAGE = "BENCHMARKS.md";
  static final String PICTURES = "benchmarks";

  private Report() {}

  /**
   * Writes the page and its pictures. What a run of its own had added about growths is of no use
   * any more.
   */
  static Path write(Run run, Path docs) throws IOException {
    Path pictures = Files.createDirectories(docs.resolve(PICTURES));
    for (Scenario scenario : Scenario.values()) {
      if (!kinds(run, scenario).isEmpty()) {
        Picture.write(run, scenario, pictures.resolve(picture(scenario)));
      }
    }
    GrowthReport.pictures(run, pictures);
    Files.deleteIfExists(docs.resolve(GrowthReport.RAW));
    return Files.writeString(docs.resolve(PAGE), page(run));
  }

  /** The page as Markdown. */
  static String page(Run run) throws IOException {
    String page = template(PAGE);
    for (Scenario scenario : Scenario.values()) {
      page = page.replace("{{" + scenario + "}}", section(run, scenario));
    }
    return page.replace("{{run}}", where(run))
        .replace("{{GROWTH}}", GrowthReport.section(run, ""))
        .replace("{{ratios}}", ratios(run))
        .replace("{{patience}}", Deaths.PATIENCE.toSeconds() + " s");
  }

  /** One of the resources. */
  static String template(String name) throws IOException {
    try (InputStream page = Report.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(page).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** When, where and with what; first of all, what speaks against the numbers. */
  static String where(Run run) {
    List<String> paragraphs = new ArrayList<>();
    if (run.isDisturbed()) {
      paragraphs.add(
          String.format(
              Locale.ROOT,
              "**The machine was busy with other work**: before the run, %.1f processes wanted one"
                  + " of its %d%nprocessors. Do not quote these numbers.",
              run.load(),
              run.processors()));
    }
    if (run.quick()) {
      paragraphs.add("**A quick run**, in which the JVM still compiles: a first look, no more.");
    }
    String commit = run.commit() == null ? "" : " at commit `" + run.commit() + "`";
    String memory =
        run.memory() == null ? "" : String.format(Locale.ROOT, " and %.1f GB", run.memory() / 1e9);
    paragraphs.add(
        "Measured on %s%s,\non a machine with %d processors%s, on Java %s."
            .formatted(run.date(), commit, run.processors(), memory, run.java()));
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("system", "server", "client"));
    run.servers()
        .forEach(
            (peer, server) ->
                lines.add(List.of(peer.title(), server, run.clients().getOrDefault(peer, ""))));
    run.skipped().forEach((peer, why) -> lines.add(List.of(peer.title(), "skipped: " + why, "")));
    paragraphs.add(Markdown.table(lines, 3));
    if (!run.failures().isEmpty()) {
      List<List<String>> failures = new ArrayList<>(List.of(List.of("what failed")));
      // The rest is in the raw data.
      run.failures()
          .forEach(failure -> failures.add(List.of(failure.lines().findFirst().orElse(""))));
      paragraphs.add(Markdown.table(failures, 1));
    }
    return String.join("\n\n", paragraphs);
  }

  private static String section(Run run, Scenario scenario) {
    if (kinds(run, scenario).isEmpty()) {
      return "Not measured.";
    }
    return "![%s](%s/%s)\n\n%s"
        .formatted(
            scenario.title(), PICTURES, picture(scenario), Markdown.table(lines(run, scenario), 2));
  }

  private static String picture(Scenario scenario) {
    return scenario.name().toLowerCase(Locale.ROOT).replace('_', '-') + ".svg";
  }

  private static String ratios(Run run) {
    Table table = Comparisons.table(run);
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("ours / peer", "ours", "peer", "ratio", "goal", ""));
    table.rows().forEach(row -> lines.add(ratio(row)));
    StringBuilder text = new StringBuilder(Markdown.table(lines, 1)).append("\n\n");
    text.append("**").append(table.result()).append("**");
    for (String goal : Comparisons.notMeasured(run)) {
      text.append("\n- not measured: ").append(goal);
    }
    return text.toString();
  }

  private static List<String> ratio(Row row) {
    boolean isJudged = row.verdict() != Verdict.NOT_JUDGED;
    return List.of(
        row.what(),
        row.unit().format(row.ours()),
        row.unit().format(row.floor()),
        String.format(Locale.ROOT, "%.3f", row.ratio()),
        isJudged ? row.goal().text() : "",
        isJudged ? row.verdict().name().toLowerCase(Locale.ROOT) : "");
  }

  /** The table of a scenario: its head, and a line for each kind that was measured. */
  static List<List<String>> lines(Run run, Scenario scenario) {
    List<Column> columns = Column.of(scenario);
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(scenario.title(), "system"));
    columns.forEach(column -> head.add(column.title()));
    lines.add(head);
    for (Kind kind : kinds(run, scenario)) {
      List<String> line = new ArrayList<>(List.of(kind.title(), kind.peer().title()));
      columns.forEach(column -> line.add(column.cell(run, kind)));
      lines.add(line);
    }
    return lines;
  }

  private static List<Kind> kinds(Run run, Scenario scenario) {
    return Kind.all().stream()
        .filter(kind -> run.find(scenario, kind, scenario.metric()).isPresent())
        .toList();
  }
}
