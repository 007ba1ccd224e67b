package io.amqplocks.spring.internal.time;

import java.time.Duration;
import org.springframework.boot.convert.DurationStyle;

/** Times as people write them: {@code 500ms}, {@code 30s}, {@code 5m} or {@code PT5M}. */
public final class Durations {

  private Durations() {}

  /**
   * Reads a time. A number without a unit is refused, unless it is 0: Spring would take it for
   * milliseconds, and its writer for seconds.
   *
   * @param name what the time is for, for the error
   * @throws IllegalArgumentException if it is none, or has no unit
   */
  public static Duration withUnit(String name, String text) {
    Duration time;
    try {
      time = DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s = '%s' is no duration: write for instance 500ms, 30s or 5m".formatted(name, text), e);
    }
    if (!time.isZero() && lacksUnit(text)) {
      throw new IllegalArgumentException(
          "%s = '%s' has no unit: write %ss or %sms"
              .formatted(name, text, text.strip(), text.strip()));
    }
    return time;
  }

  /** Whether it is a number and nothing else. */
  public static boolean lacksUnit(String text) {
    return text.strip().matches("[+-]?[0-9]+");
  }
}
