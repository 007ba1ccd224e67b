package io.amqplocks.test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** What the environment wants, and what is there to serve it. */
final class BrokerOffers {

  static final String NONE =
      "No RabbitMQ broker can be had: start Docker (with testcontainers-rabbitmq on the class"
          + " path, and DOCKER_HOST set if it is not at /var/run/docker.sock), or install"
          + " rabbitmq-server (on Debian bin/broker does), or name a broker by"
          + " AMQP_LOCKS_BROKER_URI; or make do with the one in this JVM (Brokers.EMBEDDED)";

  private final List<BrokerSource> sources;
  private final List<String> wanted;
  private final boolean required;
  private final Turn turn;

  static BrokerOffers find(Map<String, String> environment) {
    return new BrokerOffers(sources(environment), environment);
  }

  BrokerOffers(List<BrokerSource> sources, Map<String, String> environment) {
    this.sources = sources;
    this.required = Boolean.parseBoolean(environment.get("AMQP_LOCKS_BROKER_REQUIRED"));
    this.turn = Turn.parse(environment.getOrDefault("AMQP_LOCKS_BROKER_TURN", ""));
    List<String> named =
        Stream.of(environment.getOrDefault("AMQP_LOCKS_BROKER_LINES", "").split(","))
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .distinct()
            .toList();
    boolean external = sources.stream().anyMatch(ExternalSource.class::isInstance);
    this.wanted = named.isEmpty() || external ? offered() : named;
  }

  private static List<BrokerSource> sources(Map<String, String> environment) {
    String uri = environment.getOrDefault("AMQP_LOCKS_BROKER_URI", "");
    if (!uri.isEmpty()) {
      return List.of(new ExternalSource(uri), new EmbeddedSource());
    }
    List<BrokerSource> sources = new ArrayList<>();
    if (DockerSource.available(environment)) {
      sources.add(new DockerSource());
    }
    sources.add(new LocalSource(environment));
    sources.add(new EmbeddedSource());
    return sources;
  }

  private List<String> offered() {
    return sources.stream()
        .flatMap(source -> source.lines().stream())
        .distinct()
        .sorted(Comparator.comparing(BrokerVersion::parse).reversed())
        .toList();
  }

  /** The lines wanted, the preferred one first; empty if none is named and none is there. */
  List<String> wanted() {
    return wanted;
  }

  /** Those of RabbitMQ, without the broker in this JVM, which may be wanted too. */
  List<String> wantedOfRabbitMq() {
    return wanted.stream().filter(line -> !line.equals(Brokers.EMBEDDED)).toList();
  }

  /**
   * Which of its lines a class for every line takes in this run of the suite. The runs share the
   * lines that are there. One that is missing, and need not be there, is for the first run, which
   * reports it as skipped.
   */
  List<String> inTurn(List<String> lines) {
    if (required) {
      return turn.of(lines);
    }
    List<String> taken = turn.of(lines.stream().filter(line -> offer(line).isPresent()).toList());
    Stream<String> missing =
        turn.number() > 1 ? Stream.of() : lines.stream().filter(line -> offer(line).isEmpty());
    return Stream.concat(taken.stream(), missing)
        .sorted(Comparator.comparingInt(lines::indexOf))
        .toList();
  }

  /** What a class that is not for every line takes: all of it in the first run of the suite. */
  List<String> once(List<String> lines) {
    return turn.number() > 1 ? List.of() : lines;
  }

  /** Whether a line that is wanted and cannot be had is an error. */
  boolean required() {
    return required;
  }

  /** The name of the broker that there is for this line. */
  Optional<String> offer(String line) {
    return sources.stream().flatMap(source -> source.offer(line).stream()).findFirst();
  }

  /**
   * Starts a broker of the preferred line, or the one in this JVM if there is no line and none is
   * required.
   *
   * @throws IllegalStateException if there is none, or it does not start
   */
  OwnedBroker start() {
    if (wanted.isEmpty() && (required || offer(Brokers.EMBEDDED).isEmpty())) {
      throw new IllegalStateException(NONE);
    }
    return start(wanted.stream().findFirst().orElse(Brokers.EMBEDDED));
  }

  /**
   * Starts a broker of this line.
   *
   * @throws IllegalStateException if there is none, or it does not start
   */
  OwnedBroker start(String line) {
    return sources.stream()
        .filter(source -> source.offer(line).isPresent())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(missing(line)))
        .start(line);
  }

  /** Why there is no broker of this line. */
  String missing(String line) {
    List<String> offered = offered();
    if (line.equals(Brokers.EMBEDDED)) {
      return "There is no broker in this JVM: qpid-broker-core, qpid-broker-plugins-amqp-0-8-protocol"
          + " and qpid-broker-plugins-memory-store are not on the class path";
    }
    if (line.isEmpty() && !offered.isEmpty()) {
      return "AMQP_LOCKS_BROKER_LINES asks for no RabbitMQ, and that is what this is for";
    }
    return offered.isEmpty()
        ? NONE
        : "No RabbitMQ "
            + line
            + " can be had, only "
            + String.join(", ", offered)
            + " (on Debian bin/broker installs two lines, and mounts them after a reboot)";
  }
}
