package io.amqplocks.benchmarks;

import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.io.IOException;
import java.nio.file.Files;
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
    Options options;
    try {
      options = Options.parse(List.of(args));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    System.exit(run(options) ? 0 : 1);
  }

  private static boolean run(Options options) {
    try (OwnedBroker broker =
        options.line() == null ? Brokers.start() : Brokers.start(options.line())) {
      System.out.printf(
          "RabbitMQ %s, Java %s, %d processors%n",
          broker.version(),
          Runtime.version().feature(),
          Runtime.getRuntime().availableProcessors());
      if (options.command().equals("jmh")) {
        jmh(options, broker.uri());
        return true;
      }
      return core(options, broker.uri());
    } catch (Exception e) {
      e.printStackTrace();
      return false;
    }
  }

  private static void jmh(Options options, String uri) throws Exception {
    var unused =
        new Runner(
                new OptionsBuilder()
                    .parent(new CommandLineOptions(options.rest().toArray(String[]::new)))
                    .jvmArgsAppend("-D" + CorePath.BROKER + "=" + uri)
                    .build())
            .run();
  }

  /** Whether all could be measured; a goal missed is a result, not a failure. */
  private static boolean core(Options options, String uri) throws IOException {
    List<Row> rows = new ArrayList<>();
    boolean complete = true;
    for (RowSource source : Suite.rows()) {
      if (options.wants(source.name())) {
        System.err.println("measuring " + source.name() + " ...");
        complete &= measure(source, uri, options.quick(), rows);
      }
    }
    Table table = new Table(rows);
    java.nio.file.Path csv =
        java.nio.file.Path.of(System.getProperty("bench.csv", "target/bench-core.csv"));
    Files.writeString(csv, table.csv());
    System.out.println(table.text());
    System.out.println(table.result());
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
