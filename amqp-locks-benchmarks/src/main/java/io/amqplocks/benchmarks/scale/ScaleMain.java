package io.amqplocks.benchmarks.scale;

import com.sun.management.UnixOperatingSystemMXBean;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.benchmarks.Options;
import io.amqplocks.benchmarks.Table;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What {@code bin/bench scale} runs. */
final class ScaleMain {

  private static final String CLIENTS = "clients";

  /** Of the broker for each client, with some to spare. */
  private static final int DESCRIPTORS = 6;

  private final Options options;
  private final Effort effort;
  private final Findings findings = new Findings();
  private String version = "";
  private double idle = Double.NaN;

  private ScaleMain(Options options, int clients) {
    this.options = options;
    this.effort = Effort.of(options.quick(), clients);
  }

  /**
   * Runs it.
   *
   * @param args see bin/bench --help
   */
  public static void main(String[] args) throws Exception {
    Options options = Options.ofProgram(args);
    boolean complete = new ScaleMain(options, clients(options)).run();
    System.exit(complete ? 0 : 1);
  }

  /** As many as were asked for, or fewer if their connections would be too many. */
  private static int clients(Options options) {
    Integer asked = options.clients();
    int wanted = asked != null ? asked : options.quick() ? 100 : 1_000;
    int most = (int) Math.min(100_000, system().getMaxFileDescriptorCount() / DESCRIPTORS);
    if (wanted > most) {
      System.err.printf("%,d clients instead of %,d: see ulimit -n%n", most, wanted);
    }
    return Math.min(wanted, most);
  }

  private static UnixOperatingSystemMXBean system() {
    return (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  }

  private boolean run() throws Exception {
    double load = system().getSystemLoadAverage();
    for (Kind kind : Kind.values()) {
      if (options.wants(kind.title())) {
        measure(kind);
      }
    }
    if (options.wants(CLIENTS)) {
      measureClients();
    }
    ScaleRun run =
        new ScaleRun(
            options.quick(),
            version,
            Runtime.version().toString(),
            Runtime.getRuntime().availableProcessors(),
            system().getTotalMemorySize(),
            load,
            idle,
            findings.growths(),
            findings.costs(),
            findings.returns(),
            findings.failures());
    Path target = Path.of(System.getProperty("bench.target", "target"));
    Files.writeString(target.resolve("bench-scale.json"), run.json());
    print(run);
    boolean whole = !options.quick() && options.only().isEmpty() && options.clients() == null;
    Path docs = whole ? Path.of(System.getProperty("bench.docs", "docs")) : target.resolve("docs");
    System.out.println("written: " + ScaleReport.write(run, docs));
    return run.failures().isEmpty();
  }

  /** On a broker of its own, so that no other kind's locks disappear meanwhile. */
  private void measure(Kind kind) {
    System.err.println("measuring " + kind.title() + " ...");
    try (OwnedBroker broker = start()) {
      BrokerProcess process = new BrokerProcess(broker);
      if (Double.isNaN(idle)) {
        idle = process.read(0, effort.rest()).busy();
      }
      Lab lab = new Lab(broker.uri(), options.quick());
      try (LockPhase phase = new LockPhase(lab, process, effort, kind, findings)) {
        phase.measure();
      }
    } catch (Exception e) {
      findings.fail(kind.title(), e);
    }
  }

  private void measureClients() {
    try (OwnedBroker broker = start()) {
      new ClientPhase(broker, new BrokerProcess(broker), effort, findings).measure();
    } catch (Exception e) {
      findings.fail(CLIENTS, e);
    }
  }

  private OwnedBroker start() {
    OwnedBroker broker = options.line() == null ? Brokers.start() : Brokers.start(options.line());
    version = broker.version().toString();
    return broker;
  }

  private static void print(ScaleRun run) {
    Model model = new Model(run);
    for (List<List<String>> table :
        List.of(
            ScaleReport.coefficients(model),
            ScaleReport.operations(model),
            ScaleReport.clients(run),
            ScaleReport.forecasts(model),
            ScaleReport.limits(model),
            ScaleReport.returns(run))) {
      if (table.size() > 1) {
        System.out.println(Table.aligned(table, column -> column > 0) + "\n");
      }
    }
    run.failures().forEach(failure -> System.out.println("failed: " + failure));
  }
}
