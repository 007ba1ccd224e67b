package io.amqplocks.benchmarks.scale;

import io.amqplocks.benchmarks.Markdown;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** The page about a run: a template, whose gaps are filled with tables and pictures. */
final class ScaleReport {

  private static final String PAGE = "CAPACITY.md";
  private static final String PICTURES = "capacity";

  private ScaleReport() {}

  /** Writes the page and its pictures. */
  static Path write(ScaleRun run, Path docs) throws IOException {
    Path pictures = Files.createDirectories(docs.resolve(PICTURES));
    ScalePicture.write(
        run, growth -> growth.subject().isOfClients(), "clients", pictures.resolve("clients.svg"));
    ScalePicture.write(
        run,
        growth -> growth.subject() == Subject.USED || growth.subject() == Subject.HELD,
        "locks",
        pictures.resolve("locks.svg"));
    return Files.writeString(docs.resolve(PAGE), page(run));
  }

  /** The page as Markdown. */
  static String page(ScaleRun run) throws IOException {
    Model model = new Model(run);
    return template()
        .replace("{{run}}", where(run))
        .replace("{{base}}", size(model.base()))
        .replace("{{factor}}", number(model.residentForEach(), "%.1f"))
        .replace("{{processors}}", Integer.toString(run.processors()))
        .replace("{{memory}}", size((double) run.memory()))
        .replace("{{alarm}}", size(Model.ALARM * run.memory()))
        .replace("{{patience}}", ClientPhase.PATIENCE.toSeconds() + " s")
        .replace("{{coefficients}}", table(coefficients(model), 1))
        .replace("{{operations}}", table(operations(model), 2))
        .replace("{{clients}}", table(clients(run), 1))
        .replace("{{forecasts}}", table(forecasts(model), 2))
        .replace("{{limits}}", table(limits(model), 1))
        .replace("{{returns}}", table(returns(run), 1));
  }

  private static String template() throws IOException {
    try (InputStream page = ScaleReport.class.getResourceAsStream(PAGE)) {
      return new String(Objects.requireNonNull(page).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String table(List<List<String>> lines, int words) {
    return lines.size() > 1 ? Markdown.table(lines, words) : "Not measured.";
  }

  /** With what, and what speaks against the numbers. */
  private static String where(ScaleRun run) {
    List<String> paragraphs = new ArrayList<>();
    if (run.quick()) {
      paragraphs.add("**A quick run**, with less of everything: a first look, no more.");
    }
    paragraphs.add(
        String.format(
            Locale.ROOT,
            "Measured on one node of RabbitMQ %s, on a machine with %d processors and %s,%nover its"
                + " loopback interface, on Java %s. Costs of operations are medians.%s",
            run.broker(),
            run.processors(),
            size((double) run.memory()),
            run.java(),
            Double.isNaN(run.idle())
                ? ""
                : "%nWithout any client, the broker used %s of one processor."
                    .formatted(share(run.idle()))));
    if (run.load() > run.processors() / 4.0) {
      paragraphs.add(
          String.format(
              Locale.ROOT,
              "**The machine was busy with other work**: before the run, %.1f processes wanted one"
                  + " of its%nprocessors. That changes the times after a restart most.",
              run.load()));
    }
    if (!run.failures().isEmpty()) {
      List<List<String>> failures = new ArrayList<>(List.of(List.of("what failed")));
      // The rest is in the raw data.
      run.failures()
          .forEach(failure -> failures.add(List.of(failure.lines().findFirst().orElse(""))));
      paragraphs.add(Markdown.table(failures, 1));
    }
    return String.join("\n\n", paragraphs);
  }

  /** What one of each costs, by kind of lock, and of clients. */
  static List<List<String>> coefficients(Model model) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("one more", "memory", "processor", "disk", "Erlang processes", "atoms"));
    for (Kind kind : Kind.values()) {
      lines.add(line("lock, idle: " + kind.title(), q -> model.each(Subject.USED, kind, q)));
      lines.add(line("lease: " + kind.title(), q -> model.each(Subject.HELD, kind, q)));
      lines.add(
          line("waiting call: " + kind.title(), q -> model.each(Subject.WAITED_FOR, kind, q)));
    }
    for (Subject subject : Subject.values()) {
      if (subject.isOfClients()) {
        lines.add(line(subject.title(), q -> model.each(subject, Kind.MUTEX, q)));
      }
    }
    lines.removeIf(line -> line.get(1).isEmpty());
    return lines;
  }

  private static List<String> line(String what, ToDoubleFunction<Quantity> each) {
    return List.of(
        what,
        atLeastNothing(each.applyAsDouble(Quantity.MEMORY), ScaleReport::size),
        perSecond(each.applyAsDouble(Quantity.BUSY) * 1e6, "µs/s"),
        perSecond(each.applyAsDouble(Quantity.WRITTEN), "B/s"),
        number(each.applyAsDouble(Quantity.PROCESSES), "%,.1f"),
        number(each.applyAsDouble(Quantity.ATOMS), "%,.1f"));
  }

  private static String perSecond(double value, String unit) {
    return Double.isNaN(value)
        ? ""
        : atLeastNothing(value, known -> number(known, "%,.0f ") + unit);
  }

  /** More of something does not cost less. */
  private static String atLeastNothing(double value, DoubleFunction<String> text) {
    return value < 0 ? "noise" : text.apply(value);
  }

  /** What one operation of each kind costs. */
  static List<List<String>> operations(Model model) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "operation",
            "lock",
            "processor",
            "disk",
            "a second, on half of the processors",
            "disk then"));
    for (Operation operation : Operation.values()) {
      for (Kind kind : Kind.values()) {
        model
            .run()
            .find(operation, kind)
            .ifPresent(
                cost ->
                    lines.add(
                        List.of(
                            operation.title(),
                            kind.title(),
                            number(cost.medianMicros(), "%,.0f µs"),
                            size(cost.medianWritten()),
                            rounded(model.perSecond(cost)),
                            size(model.perSecond(cost) * cost.medianWritten()) + "/s")));
      }
    }
    return lines;
  }

  /** All that was read of clients. */
  static List<List<String>> clients(ScaleRun run) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "clients", "how many", "memory", "resident", "Erlang processes", "of one processor"));
    for (Growth growth : run.growths()) {
      if (growth.subject().isOfClients()) {
        for (Reading reading : growth.readings()) {
          lines.add(
              List.of(
                  growth.subject().title(),
                  number(reading.count(), "%,.0f"),
                  size((double) reading.memory()),
                  size((double) reading.resident()),
                  number((double) reading.processes(), "%,.0f"),
                  share(reading.busy())));
        }
      }
    }
    return lines;
  }

  /** What was forecast, and what came. */
  static List<List<String>> forecasts(Model model) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of("what", "quantity", "fitted up to", "at", "forecast", "measured", "of the growth"));
    for (Forecast each : model.forecasts()) {
      boolean isBusy = each.quantity() == Quantity.BUSY;
      lines.add(
          List.of(
              each.what(),
              isBusy ? "of one processor" : "memory",
              number(each.fittedTo(), "%,.0f"),
              number(each.count(), "%,.0f"),
              isBusy ? share(each.forecast()) : size(each.forecast()),
              isBusy ? share(each.measured()) : size(each.measured()),
              number(100 * each.error(), "%+.0f %%")));
    }
    return lines;
  }

  /** What a node carries, and what ends first. */
  static List<List<String>> limits(Model model) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "what",
            "by memory",
            "by processors",
            "by Erlang processes",
            "by atoms",
            "bends first"));
    for (Limit limit : model.limits()) {
      lines.add(
          List.of(
              limit.what(),
              rounded(limit.byMemory()),
              rounded(limit.byProcessor()),
              rounded(limit.byProcesses()),
              rounded(limit.byAtoms()),
              limit.first()));
    }
    return lines;
  }

  /** How clients came back. */
  static List<List<String>> returns(ScaleRun run) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of("clients", "how many", "50 %", "95 %", "all", "broker's processor time", "errors"));
    for (Return each : run.returns()) {
      lines.add(
          List.of(
              each.subject().title(),
              number(each.clients(), "%,.0f"),
              seconds(each.half()),
              seconds(each.most()),
              seconds(each.all()),
              seconds(each.busy()),
              number(each.errors(), "%,.0f")));
    }
    return lines;
  }

  private static String seconds(double value) {
    return Double.isInfinite(value)
        ? "not in %d s".formatted(ClientPhase.PATIENCE.toSeconds())
        : number(value, "%,.1f s");
  }

  private static String share(double value) {
    return number(100 * value, "%.1f %%");
  }

  /** With two digits: more would be a promise. */
  private static String rounded(double value) {
    if (Double.isInfinite(value)) {
      return "";
    }
    double unit = Math.pow(10, Math.floor(Math.log10(value)) - 1);
    // What is a hair below a whole number, by the arithmetic alone, is that number.
    return number(Math.floor(value / unit + 1e-6) * unit, "%,.0f");
  }

  private static String size(double bytes) {
    double amount = Math.abs(bytes);
    if (amount < 1e3) {
      return number(bytes, "%,.0f B");
    }
    if (amount < 1e6) {
      return number(bytes / 1e3, "%,.1f kB");
    }
    return amount < 1e9 ? number(bytes / 1e6, "%,.1f MB") : number(bytes / 1e9, "%,.1f GB");
  }

  /** Empty if it was not measured; zero has no sign. */
  private static String number(double value, String format) {
    return Double.isNaN(value)
        ? ""
        : String.format(Locale.ROOT, format, value).replaceAll("^-(?=[0.]*( |$))", "");
  }
}
