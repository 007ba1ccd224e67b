package io.amqplocks.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import io.amqplocks.benchmarks.Options;
import io.amqplocks.benchmarks.Table;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What {@code bin/bench peers} runs. */
final class PeersMain {

  private PeersMain() {}

  /**
   * Runs it.
   *
   * @param args see bin/bench --help
   */
  public static void main(String[] args) throws Exception {
    boolean complete = run(Options.ofProgram(args));
    // Not all clients end their threads.
    System.exit(complete ? 0 : 1);
  }

  private static boolean run(Options options) throws Exception {
    Map<Scenario, List<Kind>> wanted = wanted(options);
    Map<Growth, List<Kind>> growing = growing(options);
    if (wanted.isEmpty() && growing.isEmpty()) {
      System.err.println("Nothing has '" + options.only() + "' in its name");
      return false;
    }
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    double load = system.getSystemLoadAverage();
    String commit = System.getProperty("bench.commit", "");
    Set<Peer> peers = new LinkedHashSet<>();
    wanted.values().forEach(kinds -> kinds.forEach(kind -> peers.add(kind.peer())));
    growing.values().forEach(kinds -> kinds.forEach(kind -> peers.add(kind.peer())));
    List<Grown> growths = new ArrayList<>();
    List<Measurement> measurements = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    Run run;
    long start = System.nanoTime();
    try (Systems systems = Systems.start(peers, options.line())) {
      took("start of all servers and clients", start);
      for (Map.Entry<Scenario, List<Kind>> each : wanted.entrySet()) {
        List<Kind> kinds = each.getValue().stream().filter(systems::has).toList();
        Recorder recorder = new Recorder(each.getKey());
        System.err.println("measuring " + each.getKey().title() + " ...");
        long begin = System.nanoTime();
        each.getKey().measure(systems, kinds, Effort.of(options.quick()), recorder);
        took(each.getKey().title(), begin);
        measurements.addAll(recorder.measurements());
        failures.addAll(recorder.failures());
      }
      for (Map.Entry<Growth, List<Kind>> each : growing.entrySet()) {
        List<Kind> kinds = each.getValue().stream().filter(systems::has).toList();
        System.err.println("measuring " + each.getKey().title() + " ...");
        long begin = System.nanoTime();
        growths.addAll(each.getKey().measure(systems, kinds, options.quick(), failures));
        took(each.getKey().title(), begin);
      }
      run =
          new Run(
              LocalDate.now(ZoneOffset.UTC).toString(),
              options.quick(),
              options.only(),
              commit.isEmpty() ? null : commit,
              Runtime.version().toString(),
              system.getAvailableProcessors(),
              system.getTotalMemorySize(),
              load,
              systems.versions(),
              Clients.versions(systems.versions().keySet()),
              systems.skipped(),
              failures,
              measurements,
              growths);
    }
    Path target = Path.of(System.getProperty("bench.target", "target"));
    Files.writeString(target.resolve("bench-peers.json"), run.json());
    print(run);
    System.out.println("written: " + write(run, wanted, growing, target));
    return run.failures().isEmpty();
  }

  /** What is whole goes to the page of the project, the rest beside the raw data. */
  private static Path write(
      Run run, Map<Scenario, List<Kind>> wanted, Map<Growth, List<Kind>> growing, Path target)
      throws IOException {
    Path docs = Path.of(System.getProperty("bench.docs", "docs"));
    if (!run.quick() && run.only().isEmpty()) {
      return Report.write(run, docs);
    }
    boolean areGrowths = wanted.isEmpty() && growing.equals(growing(name -> true));
    return !run.quick() && areGrowths
        ? GrowthReport.add(run, docs)
        : Report.write(run, target.resolve("docs"));
  }

  /** Where the time of a run goes. */
  private static void took(String what, long start) {
    System.err.printf(Locale.ROOT, "%s: %.1f s%n", what, (System.nanoTime() - start) / 1e9);
  }

  /** What was asked for, by name. */
  private static Map<Scenario, List<Kind>> wanted(Options options) {
    Map<Scenario, List<Kind>> wanted = new LinkedHashMap<>();
    for (Scenario scenario : Scenario.values()) {
      List<Kind> kinds =
          Kind.all().stream()
              .filter(scenario::suits)
              .filter(kind -> options.wants(scenario.title() + ": " + kind.title()))
              .toList();
      if (!kinds.isEmpty()) {
        wanted.put(scenario, kinds);
      }
    }
    return wanted;
  }

  /** A quick run leaves growths out unless it asks for them, so that it takes five minutes. */
  private static Map<Growth, List<Kind>> growing(Options options) {
    return options.quick() && options.only().isEmpty() ? Map.of() : growing(options::wants);
  }

  private static Map<Growth, List<Kind>> growing(Predicate<String> isWanted) {
    Map<Growth, List<Kind>> wanted = new LinkedHashMap<>();
    for (Growth growth : Growth.values()) {
      List<Kind> kinds =
          Kind.all().stream()
              .filter(growth::suits)
              .filter(kind -> isWanted.test(growth.title() + ": " + kind.title()))
              .toList();
      if (!kinds.isEmpty()) {
        wanted.put(growth, kinds);
      }
    }
    return wanted;
  }

  private static void print(Run run) {
    System.out.println(machine(run));
    run.skipped()
        .forEach((peer, why) -> System.out.println("skipped " + peer.title() + ": " + why));
    run.failures().forEach(failure -> System.out.println("failed: " + failure));
    for (Scenario scenario : Scenario.values()) {
      List<List<String>> lines = Report.lines(run, scenario);
      if (lines.size() > 1) {
        System.out.println();
        System.out.println(Table.aligned(lines, column -> column > 1));
      }
    }
    for (Growth growth : Growth.values()) {
      List<List<String>> lines = GrowthReport.lines(run, growth);
      if (lines.size() > 1) {
        System.out.println();
        System.out.println(Table.aligned(lines, column -> column > 1));
      }
    }
    Table table = Comparisons.table(run);
    System.out.println();
    System.out.println(table.text());
    Comparisons.notMeasured(run).forEach(goal -> System.out.println("not measured: " + goal));
    System.out.println(table.result());
  }

  private static String machine(Run run) {
    return String.join(", ", run.servers().values())
        + ", Java %s, %d processors, load %.1f before"
            .formatted(run.java(), run.processors(), run.load());
  }
}
