package io.amqplocks.benchmarks;

import java.util.Locale;

/** What a number counts, and how it is written. */
public enum Unit {
  /** Microseconds. */
  MICROS,
  /** Operations in a second. */
  PER_SECOND,
  /** Bytes of heap. */
  BYTES,
  /** A part of a whole. */
  SHARE,
  /** A ratio. */
  TIMES,
  /** How many there are. */
  COUNT;

  /** The number as people read it. */
  public String format(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    if (Double.isInfinite(value)) {
      return "∞";
    }
    return switch (this) {
      case MICROS ->
          value < 100_000
              ? String.format(Locale.ROOT, "%,.0f µs", value)
              : String.format(Locale.ROOT, "%,.0f ms", value / 1_000);
      case PER_SECOND -> String.format(Locale.ROOT, "%,.0f /s", value);
      case BYTES -> String.format(Locale.ROOT, "%,.0f B", value);
      case SHARE -> String.format(Locale.ROOT, "%.1f %%", 100 * value);
      case TIMES -> String.format(Locale.ROOT, "%.2f ×", value);
      case COUNT -> String.format(Locale.ROOT, "%,.0f", value);
    };
  }
}
