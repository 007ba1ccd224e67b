package io.amqplocks.prover;

import io.amqplocks.prover.run.Prover;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.OwnedBroker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.opentest4j.TestAbortedException;

/** The command {@code bin/prove}. */
final class Prove {

  private static final Duration QUICK = Duration.ofSeconds(150);
  private static final Duration FULL = Duration.ofMinutes(36);

  private Duration time = FULL;
  private long seed = System.nanoTime() & 0xFFFFFF;
  private String round = "";
  private String left = "";
  private List<String> locks = List.of();
  private List<String> also = List.of();
  private Duration shrinking = Duration.ZERO;
  private boolean stopAtFirst;
  private boolean consumers;
  private boolean cluster;
  private List<String> lines = List.of();
  private List<String> faults = List.of();
  private final List<List<String>> clients = new ArrayList<>();

  private Prove() {}

  /**
   * Searches for violations, and ends with exit code 1 if there was one, with 2 for wrong
   * arguments.
   *
   * @param args see {@code bin/prove --help}
   */
  public static void main(String[] args) throws Exception {
    Prove prove = new Prove();
    try {
      prove.read(Arrays.asList(args).iterator());
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage() + "; see bin/prove --help");
      System.exit(2);
    }
    System.exit(prove.run() ? 0 : 1);
  }

  private void read(Iterator<String> args) {
    while (args.hasNext()) {
      String option = args.next();
      switch (option) {
        case "--quick" -> time = QUICK;
        case "--for" -> time = duration(value(option, args));
        case "--seed" -> seed = Long.parseLong(value(option, args));
        case "--stop-at-first" -> stopAtFirst = true;
        case "--consumers" -> consumers = true;
        case "--cluster" -> cluster = true;
        case "--round" -> round = value(option, args);
        case "--less" -> left = value(option, args);
        case "--also" -> also = List.of(value(option, args).split(",", -1));
        case "--lock" -> locks = List.of(value(option, args).split(",", -1));
        case "--shrink" -> shrinking = duration(value(option, args));
        case "--fault" -> faults = List.of(value(option, args).split(",", -1));
        case "--line" -> lines = List.of(value(option, args).split(",", -1));
        case "--client" -> clients.add(client(value(option, args)));
        default -> throw new IllegalArgumentException("There is no option " + option);
      }
    }
  }

  private static String value(String option, Iterator<String> args) {
    if (!args.hasNext()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    return args.next();
  }

  private static Duration duration(String text) {
    String number = text.replaceAll("[smh]$", "");
    long count = Long.parseLong(number);
    return text.endsWith("h")
        ? Duration.ofHours(count)
        : text.endsWith("m") ? Duration.ofMinutes(count) : Duration.ofSeconds(count);
  }

  private static String name(List<String> program) {
    return program.equals(Prover.ownClient()) ? "own client" : String.join(" ", program);
  }

  private static List<String> client(String command) {
    return command.equals("own") ? Prover.ownClient() : List.of(command.split(" ", -1));
  }

  private boolean run() throws Exception {
    List<String> all = lines.isEmpty() ? new ArrayList<>(Brokers.lines()) : lines;
    if (all.isEmpty()) {
      throw new IllegalStateException("There is no broker here; see bin/broker --help");
    }
    Path results = Files.createDirectories(Path.of("amqp-locks-prover", "target", "proof"));
    List<List<String>> programs = clients.isEmpty() ? List.of(Prover.ownClient()) : clients;
    boolean good = true;
    List<String> summaries = new ArrayList<>();
    Duration each = time.dividedBy(all.size());
    try {
      for (String line : all) {
        good &= search(line, each, programs, results, summaries);
      }
    } finally {
      summaries.forEach(System.out::println);
    }
    return good;
  }

  private boolean search(
      String line,
      Duration length,
      List<List<String>> programs,
      Path results,
      List<String> summaries)
      throws Exception {
    if (cluster) {
      try (Cluster nodes = Cluster.start(line)) {
        System.out.printf("Three nodes of RabbitMQ %s, seed %d%n", nodes.version(), seed);
        Prover prover = new Prover(nodes, programs, results, System.out);
        String where = "three nodes of RabbitMQ " + nodes.version();
        return search(prover, length, programs, where, summaries);
      } catch (TestAbortedException cannot) {
        System.out.println("No cluster of RabbitMQ " + line + ": " + cannot.getMessage());
        return false;
      }
    }
    try (OwnedBroker broker = Brokers.start(line)) {
      System.out.printf("RabbitMQ %s, seed %d%n", broker.version(), seed);
      Prover prover = new Prover(broker, programs, results, System.out);
      return search(prover, length, programs, "RabbitMQ " + broker.version(), summaries);
    }
  }

  /** What was found until then is told, also if a round cannot be carried out to its end. */
  private boolean search(
      Prover prover,
      Duration length,
      List<List<String>> programs,
      String where,
      List<String> summaries)
      throws Exception {
    String broken = "; broken off";
    try {
      boolean good = search(prover, length, programs);
      broken = "";
      return good;
    } finally {
      summaries.add(prover.summary() + " (" + where + ")" + broken);
    }
  }

  private boolean search(Prover prover, Duration length, List<List<String>> programs)
      throws Exception {
    if (!faults.isEmpty()) {
      prover.only(faults);
    }
    if (!left.isEmpty()) {
      prover.leave(left);
    }
    if (!locks.isEmpty()) {
      prover.onlyLocks(locks);
    }
    prover.also(also);
    prover.shrink(shrinking);
    if (consumers) {
      prover.onlyConsumers();
    } else if (time.compareTo(FULL) >= 0 && faults.isEmpty()) {
      prover.alsoDense();
    }
    if (round.isEmpty()) {
      prover.prove(seed, length, stopAtFirst);
    } else {
      prover.again(round);
    }
    boolean good = prover.violations().isEmpty();
    System.out.printf(
        "guarded rows: %d writes taken, %d refused%n", prover.taken(), prover.refused());
    for (int i = 0; i < programs.size(); i++) {
      System.out.printf("%s: %d leases%n", name(programs.get(i)), prover.acquired().get(i));
      if (prover.acquired().get(i) == 0) {
        System.out.println("It acquired no lock at all, so this proves nothing");
        good = false;
      }
    }
    return good;
  }
}
