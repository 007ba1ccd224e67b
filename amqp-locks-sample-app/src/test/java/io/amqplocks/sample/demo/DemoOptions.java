package io.amqplocks.sample.demo;

import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.spring.SemaphoreAlgorithm;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks for; {@code bin/demo --help} explains it.
 *
 * @param once whether to end when each image is uploaded once
 * @param kill whether to kill a worker process in mid-upload
 * @param processes how many worker processes
 * @param slots how many uploads at once
 * @param algorithm how the broker keeps the slots
 * @param port where the page is served, or 0 for any free port
 * @param brokerLine the RabbitMQ release line, or the broker in the JVM, or null for the preferred
 *     one
 */
record DemoOptions(
    boolean once,
    boolean kill,
    int processes,
    int slots,
    SemaphoreAlgorithm algorithm,
    int port,
    @Nullable String brokerLine) {

  /** As many as application.yml gives each worker. */
  static final int THREADS = 4;

  private static final int MAX_PORT = 65_535;

  DemoOptions {
    require(processes >= 1, "--processes must be at least 1");
    require(slots >= 1, "--slots must be at least 1");
    require(
        slots <= SemaphoreAdmin.MAX_SLOTS, "--slots must be at most " + SemaphoreAdmin.MAX_SLOTS);
    require(port <= MAX_PORT, "--port must be at most " + MAX_PORT);
    // Otherwise a freed slot may stay free, and there is nothing to see.
    require(
        !kill || (processes - 1) * THREADS >= slots,
        "--kill must leave at least as many threads as there are slots: more --processes");
  }

  /** How many uploads there could be at once without a lock. */
  int threads() {
    return processes * THREADS;
  }

  /**
   * Reads the command line.
   *
   * @throws IllegalArgumentException if it is wrong, with what to say to the user
   */
  static DemoOptions parse(List<String> args) {
    boolean once = false;
    boolean kill = false;
    int processes = 3;
    int slots = 5;
    SemaphoreAlgorithm algorithm = SemaphoreAlgorithm.TOKENS;
    int port = 0;
    String brokerLine = null;
    for (Iterator<String> rest = args.iterator(); rest.hasNext(); ) {
      String option = rest.next();
      switch (option) {
        case "--once" -> once = true;
        case "--kill" -> kill = true;
        case "--processes" -> processes = number(option, rest);
        case "--slots" -> slots = number(option, rest);
        case "--algorithm" -> algorithm = algorithm(value(option, rest));
        case "--port" -> port = number(option, rest);
        case "--broker" -> brokerLine = value(option, rest);
        default -> throw new IllegalArgumentException("Unknown option " + option);
      }
    }
    return new DemoOptions(once, kill, processes, slots, algorithm, port, brokerLine);
  }

  private static SemaphoreAlgorithm algorithm(String value) {
    require(value.matches("slots|tokens"), "--algorithm must be slots or tokens, not " + value);
    return SemaphoreAlgorithm.valueOf(value.toUpperCase(Locale.ROOT));
  }

  private static int number(String option, Iterator<String> rest) {
    String value = value(option, rest);
    require(value.matches("\\d{1,5}"), option + " needs a number, not '" + value + "'");
    return Integer.parseInt(value);
  }

  private static String value(String option, Iterator<String> rest) {
    require(rest.hasNext(), option + " needs a value");
    return rest.next();
  }

  private static void require(boolean good, String message) {
    if (!good) {
      throw new IllegalArgumentException(message);
    }
  }
}
