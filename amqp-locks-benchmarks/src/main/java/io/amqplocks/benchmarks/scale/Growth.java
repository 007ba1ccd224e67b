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

  /** The line through all readings that show something; NaN if too few. */
  Line line(Quantity quantity) {
    return through(seen(quantity));
  }

  /** The line without the last of these readings, which is there to be forecast; NaN if too few. */
  Line lineWithoutLast(Quantity quantity) {
    List<Point> points = seen(quantity);
    return through(points.subList(0, Math.max(0, points.size() - 1)));
  }

  private static Line through(List<Point> points) {
    return points.size() < 2 ? new Line(Double.NaN, Double.NaN) : Line.through(points);
  }

  /** What one costs cannot be seen beside what the start of the broker has left over. */
  private List<Point> seen(Quantity quantity) {
    return points(quantity).stream().filter(point -> point.count() > 1).toList();
  }

  /** What was measured at last; NaN if nothing was. */
  Point last(Quantity quantity) {
    List<Point> points = points(quantity);
    return points.isEmpty() ? new Point(Double.NaN, Double.NaN) : points.get(points.size() - 1);
  }

  /** Up to how many the line without the last reading is fitted to. */
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
