package io.amqplocks.benchmarks.scale;

import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * More and more clients, each with connections of its own: connected, each with a mutex of its own,
 * and all for one mutex. Then the broker is killed and started under them.
 */
final class ClientPhase {

  private static final String PREFIX = "scale.";
  private static final String ONE = "one";

  /** How long all of them may take to come back. */
  static final Duration PATIENCE = Duration.ofSeconds(90);

  private final OwnedBroker broker;
  private final BrokerProcess process;
  private final Effort effort;
  private final Findings findings;
  private final List<Reading> connected = new ArrayList<>();
  private final List<Reading> holding = new ArrayList<>();
  private final List<Reading> contending = new ArrayList<>();

  ClientPhase(OwnedBroker broker, BrokerProcess process, Effort effort, Findings findings) {
    this.broker = broker;
    this.process = process;
    this.effort = effort;
    this.findings = findings;
  }

  /** Measures all of it. */
  void measure() throws Exception {
    List<Integer> sizes = Effort.sizes(effort.clients());
    try (Fleet fleet = new Fleet(broker.uri(), PREFIX)) {
      for (int size : sizes) {
        System.err.println("measuring %d clients ...".formatted(size));
        read(fleet, size);
      }
      findings.add(new Growth(Subject.CONNECTED, Kind.MUTEX, connected));
      findings.add(new Growth(Subject.HOLDING, Kind.MUTEX, holding));
      findings.add(new Growth(Subject.CONTENDING, Kind.MUTEX, contending));
      // The broker's start alone, and more clients each time; the most first, for they are there.
      for (int size : falling(sizes)) {
        System.err.println("measuring the return of %d clients ...".formatted(size));
        fleet.connect(size);
        comeBack(fleet, size);
      }
    }
  }

  private static List<Integer> falling(List<Integer> sizes) {
    List<Integer> some =
        new ArrayList<>(sizes.subList(Math.max(0, sizes.size() - 2), sizes.size()));
    Collections.reverse(some);
    if (!some.contains(1)) {
      some.add(1);
    }
    return some;
  }

  private void read(Fleet fleet, int size) throws Exception {
    Duration rest = effort.rest(size, effort.clients());
    fleet.connect(size);
    connected.add(process.read(size, rest));
    fleet.hold();
    holding.add(process.read(size, rest));
    fleet.release();
    fleet.contend(ONE);
    requireConsumers(size);
    contending.add(process.read(size, Duration.ZERO));
    fleet.release();
  }

  private void comeBack(Fleet fleet, int size) throws Exception {
    fleet.hold();
    fleet.forget();
    long begin = restart();
    Fleet.Held held = fleet.awaitHeld(size, left(begin));
    double busy = process.onProcessor().toMillis() / 1e3;
    findings.add(
        new Return(
            size,
            Subject.HOLDING,
            seconds(held, rank(50, size), begin),
            seconds(held, rank(95, size), begin),
            seconds(held, size, begin),
            busy,
            held.errors()));
    fleet.release();
    fleet.contend(ONE);
    requireConsumers(size);
    fleet.forget();
    begin = restart();
    long end = System.nanoTime() + left(begin).toNanos();
    double half = awaitConsumers(rank(50, size), end) - begin;
    double most = awaitConsumers(rank(95, size), end) - begin;
    double all = awaitConsumers(size, end) - begin;
    busy = process.onProcessor().toMillis() / 1e3;
    int errors = fleet.awaitHeld(1, PATIENCE).errors();
    findings.add(
        new Return(size, Subject.CONTENDING, half / 1e3, most / 1e3, all / 1e3, busy, errors));
    fleet.release();
  }

  /** When its start began, by the machine's clock, which the clients share. */
  private long restart() {
    broker.faults().kill();
    long begin = System.currentTimeMillis();
    broker.faults().start();
    return begin;
  }

  private static Duration left(long begin) {
    return PATIENCE.minusMillis(System.currentTimeMillis() - begin);
  }

  private static int rank(int percent, int size) {
    return (int) Math.ceil(percent / 100.0 * size);
  }

  /** Seconds until so many held; infinite if they did not in time. */
  private static double seconds(Fleet.Held held, int count, long begin) {
    return held.since().size() < count
        ? Double.POSITIVE_INFINITY
        : (held.since().get(count - 1) - begin) / 1e3;
  }

  private void requireConsumers(int count) throws InterruptedException {
    if (Double.isInfinite(awaitConsumers(count, System.nanoTime() + PATIENCE.toNanos()))) {
      throw new IllegalStateException("Only %d of %d wait".formatted(consumers(), count));
    }
  }

  /**
   * When there were so many consumers that hold or wait for the one lock, by the machine's clock;
   * infinite if there were not in time.
   */
  private double awaitConsumers(int count, long end) throws InterruptedException {
    while (consumers() < count) {
      if (end - System.nanoTime() < 0) {
        return Double.POSITIVE_INFINITY;
      }
      TimeUnit.MILLISECONDS.sleep(500);
    }
    return System.currentTimeMillis();
  }

  private int consumers() {
    return broker.faults().queues().stream()
        .filter(queue -> queue.name().equals(PREFIX + "mutex." + ONE))
        .mapToInt(BrokerQueue::consumers)
        .sum();
  }
}
