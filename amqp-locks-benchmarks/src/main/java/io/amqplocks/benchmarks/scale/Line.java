package io.amqplocks.benchmarks.scale;

import java.util.List;

/**
 * A straight line: what there is without any, and what one of them adds.
 *
 * @param base the value at none
 * @param each by how much the value rises with each
 */
record Line(double base, double each) {

  /**
   * The line from which the points differ least, by the sum of the squares.
   *
   * @throws IllegalArgumentException if the points are not of two different numbers at least
   */
  static Line through(List<Point> points) {
    double meanCount = points.stream().mapToDouble(Point::count).average().orElse(0);
    double meanValue = points.stream().mapToDouble(Point::value).average().orElse(0);
    double products = 0;
    double squares = 0;
    for (Point point : points) {
      double distance = point.count() - meanCount;
      products += distance * (point.value() - meanValue);
      squares += distance * distance;
    }
    if (squares == 0) {
      throw new IllegalArgumentException("No line through " + points);
    }
    double each = products / squares;
    return new Line(meanValue - each * meanCount, each);
  }

  /** The value at so many. */
  double at(double count) {
    return base + each * count;
  }
}
