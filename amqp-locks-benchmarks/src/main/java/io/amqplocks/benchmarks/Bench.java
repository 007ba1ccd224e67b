package io.amqplocks.benchmarks;

import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** What bin/bench runs. */
final class Bench {

  private Bench() {}

  /**
   * Runs it.
   *
   * @param args see bin/bench --help
   */
  public static void main(String[] args) {
    System.exit(run(Options.ofProgram(args)) ? 0 : 1);
  }

  private static boolean run(Options options) {
    try (OwnedBroker broker =
        options.line() == null ? Brokers.start() : Brokers.start(options.line())) {
      System.out.printf(
          "RabbitMQ %s, Java %s, %d processors%n",
          broker.version(),
          Runtime.version().feature(),
          Runtime.getRuntime().availableProcessors());
      return switch (options.command()) {
        case "jmh" -> jmh(options, broker.uri());
        case "explain" -> explain(options, broker.uri());
        default -> core(options, broker.uri());
      };
    } catch (Exception e) {
      e.printStackTrace();
      return false;
    }
  }

  private static boolean jmh(Options options, String uri) throws Exception {
    var unused =
        new Runner(
                new OptionsBuilder()
                    .parent(new CommandLineOptions(options.rest().toArray(String[]::new)))
                    .jvmArgsAppend("-D" + OneSide.BROKER + "=" + uri)
                    .build())
            .run();
    return true;
  }

  private static boolean explain(Options options, String uri) throws Exception {
    for (CorePath path : Suite.paths()) {
      if (options.wants(path.name())) {
        Wire wire = new Wire();
        try (Lab lab = new Lab(uri, wire)) {
          explain(path, path.open(lab), new Explanation(wire));
        }
      }
    }
    return true;
  }

  private static void explain(CorePath path, Sides sides, Explanation explanation)
      throws Exception {
    if (sides.ours() != null) {
      System.out.println(path.name() + "\n" + explanation.of(sides.ours()));
    }
    System.out.println("floor: " + path.floor() + "\n" + explanation.of(sides.floor()));
    if (sides.steps() != null) {
      System.out.println("all of its own steps\n" + explanation.of(sides.steps()));
    }
  }

  /** Whether all could be measured; a goal missed is a result, not a failure. */
  private static boolean core(Options options, String uri) throws IOException {
    List<RowSource> wanted =
        Suite.rows().stream().filter(source -> options.wants(source.name())).toList();
    if (wanted.isEmpty()) {
      System.err.println("No row has '" + options.only() + "' in its name");
      return false;
    }
    List<Row> rows = new ArrayList<>();
    boolean complete = warmUp(uri);
    for (RowSource source : wanted) {
      System.err.println("measuring " + source.name() + " ...");
      complete &= measure(source, uri, options.quick(), rows);
    }
    Table table = new Table(rows);
    Path csv = Path.of(System.getProperty("bench.csv", "target/bench-core.csv"));
    Files.writeString(csv, table.csv());
    System.out.println(table.text());
    System.out.println(table.result());
    return complete;
  }

  /** Else the first rows would pay for what all of them compile. */
  private static boolean warmUp(String uri) {
    boolean complete = true;
    for (CorePath path : List.of(new MutexPath(), new SemaphorePath(5, 0, Goal.NONE))) {
      complete &= measure(new PathRows(path), uri, true, new ArrayList<>());
    }
    return complete;
  }

  private static boolean measure(RowSource source, String uri, boolean quick, List<Row> rows) {
    try (Lab lab = new Lab(uri, quick)) {
      source.measure(lab, rows::add);
      return true;
    } catch (Exception e) {
      System.err.println(source.name() + " could not be measured:");
      e.printStackTrace();
      return false;
    }
  }
}
