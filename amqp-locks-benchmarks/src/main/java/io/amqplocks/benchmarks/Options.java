package io.amqplocks.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What bin/bench was asked for.
 *
 * @param command {@code core}, {@code peers}, {@code scale}, {@code jmh} or {@code explain}
 * @param quick less of everything, for a first look
 * @param line the release line of the broker; null for the newest there is
 * @param only measure only what has this in its name; empty for all
 * @param clients how many there are at most, for {@code scale}; null for its default
 * @param rest what is for JMH
 */
public record Options(
    String command,
    boolean quick,
    @Nullable String line,
    String only,
    @Nullable Integer clients,
    List<String> rest) {

  private static final List<String> COMMANDS = List.of("core", "peers", "scale", "jmh", "explain");

  /** Reads the command line of a program, and ends the program if it is wrong. */
  public static Options ofProgram(String[] args) {
    try {
      return parse(List.of(args));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      throw e;
    }
  }

  /** Reads the command line. */
  static Options parse(List<String> args) {
    if (args.isEmpty() || !COMMANDS.contains(args.get(0))) {
      throw new IllegalArgumentException(
          "Say what to run: core, peers, scale, jmh or explain (see --help)");
    }
    boolean quick = false;
    String line = null;
    String only = "";
    Integer clients = null;
    List<String> rest = new ArrayList<>();
    boolean forJmh = args.get(0).equals("jmh");
    for (int i = 1; i < args.size(); i++) {
      switch (args.get(i)) {
        case "--quick" -> quick = true;
        case "--line" -> line = value(args, ++i);
        case "--only" -> only = value(args, ++i);
        case "--clients" -> clients = number(args, ++i);
        default -> {
          if (!forJmh) {
            throw new IllegalArgumentException("There is no option " + args.get(i));
          }
          rest.add(args.get(i));
        }
      }
    }
    return new Options(args.get(0), quick, line, only, clients, List.copyOf(rest));
  }

  private static int number(List<String> args, int position) {
    String value = value(args, position);
    if (!value.matches("[1-9]\\d{0,4}")) {
      throw new IllegalArgumentException("Not a number of clients: " + value);
    }
    return Integer.parseInt(value);
  }

  private static String value(List<String> args, int position) {
    if (position == args.size()) {
      throw new IllegalArgumentException("Option " + args.get(position - 1) + " needs a value");
    }
    return args.get(position);
  }

  /** Whether that is wanted. */
  public boolean wants(String name) {
    return name.toLowerCase(Locale.ROOT).contains(only.toLowerCase(Locale.ROOT));
  }
}
