package io.amqplocks.benchmarks.scale;

import java.util.List;

/**
 * All readings about one thing, of which there were more each time.
 *
 * @param subject what there was
 * @param kind of lock
 * @param readings by rising counts
 */
record Growth(Subject subject, Kind kind, List<Reading> readings) {

  Growth {
    readings = List.copyOf(readings);
  }

  /** The line through all readings but the last, which is there to be forecast; NaN if too few. */
  Line line(Quantity quantity) {
    List<Point> points = points(quantity);
    return points.size() < 3
        ? new Line(Double.NaN, Double.NaN)
        : Line.through(points.subList(0, points.size() - 1));
  }

  /** What was measured at last; NaN if nothing was. */
  Point last(Quantity quantity) {
    List<Point> points = points(quantity);
    return points.isEmpty() ? new Point(Double.NaN, Double.NaN) : points.get(points.size() - 1);
  }

  /** Up to how many the lines are fitted to. */
  int fittedTo() {
    return readings.get(Math.max(0, readings.size() - 2)).count();
  }

  /** The readings that have it. */
  List<Point> points(Quantity quantity) {
    return readings.stream()
        .filter(reading -> !Double.isNaN(quantity.of(reading)))
        .map(reading -> new Point(reading.count(), quantity.of(reading)))
        .toList();
  }
}
