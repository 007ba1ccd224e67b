package io.amqplocks.benchmarks;

import java.util.Arrays;

/** What was measured, in the order of measuring. Not thread-safe. */
public final class Samples {

  private double[] values = new double[256];
  private int count;

  /** Adds one. */
  public void add(double value) {
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count++] = value;
  }

  /** Nanoseconds, say: up to a hundred days they lose nothing as a double. */
  void add(long value) {
    add((double) value);
  }

  void addAll(Samples more) {
    for (int i = 0; i < more.count; i++) {
      add(more.values[i]);
    }
  }

  int count() {
    return count;
  }

  /** The value in the middle; NaN if there is none. */
  public double median() {
    return percentile(50);
  }

  /** The smallest value that so many percent of all do not exceed (nearest rank); NaN if none. */
  public double percentile(double percent) {
    if (count == 0) {
      return Double.NaN;
    }
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(percent / 100 * count);
    return sorted[Math.max(1, rank) - 1];
  }
}
