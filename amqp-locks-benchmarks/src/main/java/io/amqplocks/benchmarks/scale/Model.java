package io.amqplocks.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;

/**
 * What one of everything costs a broker, by the lines through the readings of a run, and what
 * follows. Costs add up: each line is about one thing, and nothing here makes another one dearer.
 * The forecasts test just that. A number that was not measured is NaN.
 *
 * @param run that measured
 */
record Model(ScaleRun run) {

  /** The part of the memory at which RabbitMQ raises its alarm, unless configured otherwise. */
  static final double ALARM = 0.6;

  /** The part of the processors that is planned for; what comes in bursts needs the rest. */
  static final double PLANNED = 0.5;

  private static final int ENOUGH_TO_SEE = 30;

  private static final double MOST_PROCESSES = 1_048_576;
  private static final double MOST_ATOMS = 5_000_000;

  /** What each of them adds. */
  double each(Subject subject, Kind kind, Quantity quantity) {
    return run.find(subject, kind).map(growth -> growth.line(quantity).each()).orElse(Double.NaN);
  }

  /** What a lock takes that is held: all of them were there before the first was held. */
  double held(Kind kind, Quantity quantity) {
    double lease = each(Subject.HELD, kind, quantity);
    double idle = each(Subject.USED, kind, quantity);
    // A lease that seems to take less than nothing is noise.
    return Double.isNaN(idle) ? lease : idle + Math.max(0, lease);
  }

  /** Bytes that the operating system counts for each byte of the broker's own account. */
  double residentForEach() {
    return residentByMemory().each();
  }

  /** What the operating system counts for a broker without clients. */
  double base() {
    return run.find(Subject.CONNECTED, Kind.MUTEX)
        .map(growth -> residentByMemory().at(growth.line(Quantity.MEMORY).base()))
        .orElse(Double.NaN);
  }

  /** With few clients, memory that the start of the broker has left over hides what they take. */
  private Line residentByMemory() {
    List<Point> points =
        run.find(Subject.HOLDING, Kind.MUTEX).stream()
            .flatMap(growth -> growth.readings().stream())
            .filter(reading -> reading.count() >= ENOUGH_TO_SEE)
            .map(reading -> new Point(reading.memory(), reading.resident()))
            .toList();
    return points.size() < 2 ? new Line(Double.NaN, Double.NaN) : Line.through(points);
  }

  /** Each last point, by the line through the others, and some by lines about other things. */
  List<Forecast> forecasts() {
    List<Forecast> forecasts = new ArrayList<>();
    for (Growth growth : run.growths()) {
      forecasts.add(forecast(growth, Quantity.MEMORY));
      forecasts.add(forecast(growth, Quantity.BUSY));
    }
    run.find(Subject.HOLDING, Kind.MUTEX)
        .ifPresent(
            holding -> {
              forecasts.add(composed(holding, Quantity.MEMORY));
              forecasts.add(composed(holding, Quantity.BUSY));
            });
    forecasts.removeIf(each -> Double.isNaN(each.forecast()));
    return forecasts;
  }

  private static Forecast forecast(Growth growth, Quantity quantity) {
    Point last = growth.last(quantity);
    Line line = growth.lineWithoutLast(quantity);
    boolean isOfClients = growth.subject().isOfClients();
    return new Forecast(
        growth.subject().title() + (isOfClients ? "" : ": " + growth.kind().title()),
        growth.fittedTo(),
        (int) last.count(),
        quantity,
        line.base(),
        line.at(last.count()),
        last.value());
  }

  /** Of clients with a lock each, by clients without one and by locks that few clients hold. */
  private Forecast composed(Growth holding, Quantity quantity) {
    Point last = holding.last(quantity);
    Line clients =
        run.find(Subject.CONNECTED, Kind.MUTEX)
            .map(growth -> growth.lineWithoutLast(quantity))
            .orElse(new Line(Double.NaN, Double.NaN));
    return new Forecast(
        "connected clients + held mutexes",
        holding.fittedTo(),
        (int) last.count(),
        quantity,
        clients.base(),
        clients.at(last.count()) + last.count() * held(Kind.MUTEX, quantity),
        last.value());
  }

  /** What a node like the machine of the run carries of each, alone. */
  List<Limit> limits() {
    List<Limit> limits = new ArrayList<>();
    for (Subject subject : Subject.values()) {
      if (subject == Subject.WAITED_FOR) {
        continue;
      }
      for (Kind kind : Kind.values()) {
        run.find(subject, kind).ifPresent(growth -> limits.add(limit(growth)));
      }
    }
    return limits;
  }

  private Limit limit(Growth growth) {
    Subject subject = growth.subject();
    Kind kind = growth.kind();
    boolean isOfClients = subject.isOfClients();
    double resident = all(subject, kind, Quantity.MEMORY) * residentForEach();
    return new Limit(
        subject.title() + (isOfClients ? "" : ": " + kind.title()),
        carried(ALARM * run.memory() - base(), resident),
        carried(PLANNED * run.processors(), each(subject, kind, Quantity.BUSY)),
        carried(MOST_PROCESSES, all(subject, kind, Quantity.PROCESSES)),
        carried(MOST_ATOMS, all(subject, kind, Quantity.ATOMS)));
  }

  private double all(Subject subject, Kind kind, Quantity quantity) {
    return subject == Subject.HELD ? held(kind, quantity) : each(subject, kind, quantity);
  }

  /** Infinite if each of them takes nothing of it, or not more than is left of other things. */
  private static double carried(double all, double each) {
    return each > all / 1e8 ? all / each : Double.POSITIVE_INFINITY;
  }

  /** How many such operations a second occupy the part of the processors that is planned for. */
  double perSecond(Cost cost) {
    return PLANNED * run.processors() * 1e6 / cost.medianMicros();
  }
}
