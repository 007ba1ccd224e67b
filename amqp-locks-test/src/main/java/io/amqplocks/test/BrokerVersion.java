package io.amqplocks.test;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a broker.
 *
 * @param major 4 of {@code 4.3.6}
 * @param minor 3 of {@code 4.3.6}
 * @param patch 6 of {@code 4.3.6}
 */
public record BrokerVersion(int major, int minor, int patch) implements Comparable<BrokerVersion> {

  private static final Pattern NUMBERS = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?.*");

  private static final Comparator<BrokerVersion> ORDER =
      Comparator.comparingInt(BrokerVersion::major)
          .thenComparingInt(BrokerVersion::minor)
          .thenComparingInt(BrokerVersion::patch);

  /**
   * Reads a version such as {@code 4.3.6}, {@code 4.3} or {@code 4.4.0-rc.1}; what follows the
   * three numbers is dropped, and a missing patch is 0.
   *
   * @throws IllegalArgumentException if the text does not begin with two numbers
   */
  public static BrokerVersion parse(String text) {
    Matcher numbers = NUMBERS.matcher(text);
    if (!numbers.matches()) {
      throw new IllegalArgumentException("Not a RabbitMQ version: " + text);
    }
    String patch = numbers.group(3);
    return new BrokerVersion(
        Integer.parseInt(numbers.group(1)),
        Integer.parseInt(numbers.group(2)),
        patch == null ? 0 : Integer.parseInt(patch));
  }

  /** Whether this is the given release line or a later one. */
  public boolean isAtLeast(int major, int minor) {
    return compareTo(new BrokerVersion(major, minor, 0)) >= 0;
  }

  /** The release line, for instance {@code 4.3}. */
  public String line() {
    return major + "." + minor;
  }

  @Override
  public int compareTo(BrokerVersion other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + patch;
  }
}
