package io.amqplocks.internal.broker;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The broker, as described by the server properties of a connection.
 *
 * @param product the name of the product
 * @param version the version of the product
 */
public record ServerVersion(String product, String version) {

  private static final String KNOWN = "RabbitMQ";
  private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\b.*");
  private static final int OLDEST_MAJOR = 3;
  private static final int OLDEST_MINOR = 10;

  /** Reads the server properties of a connection. A missing property is "unknown". */
  public static ServerVersion of(Map<String, Object> properties) {
    return new ServerVersion(text(properties.get("product")), text(properties.get("version")));
  }

  /** A warning for operators if nobody has tried the locks on such a server. */
  public Optional<String> concern() {
    if (!product.equals(KNOWN)) {
      return Optional.of(
          "The locks are tested on RabbitMQ, and this server is %s: try there what you rely on"
              .formatted(this));
    }
    Matcher release = RELEASE.matcher(version);
    if (!release.matches()) {
      return Optional.of("%s has a version that says nothing to this library".formatted(this));
    }
    int major = Integer.parseInt(release.group(1));
    int minor = Integer.parseInt(release.group(2));
    return major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)
        ? Optional.of(
            "%s is older than %d.%d, the oldest that the locks are tested on; upgrade it"
                .formatted(this, OLDEST_MAJOR, OLDEST_MINOR))
        : Optional.empty();
  }

  /** Whether the product is RabbitMQ. */
  public boolean isRabbit() {
    return product.equals(KNOWN);
  }

  /** The major version; 0 if the version cannot be read. */
  public int major() {
    Matcher release = RELEASE.matcher(version);
    return release.matches() ? Integer.parseInt(release.group(1)) : 0;
  }

  /** Whether this is RabbitMQ of the given version or newer. */
  public boolean isAtLeast(int major, int minor) {
    Matcher release = RELEASE.matcher(version);
    if (!product.equals(KNOWN) || !release.matches()) {
      return false;
    }
    int first = Integer.parseInt(release.group(1));
    return first > major || (first == major && Integer.parseInt(release.group(2)) >= minor);
  }

  /** The minor version; 0 if the version cannot be read. */
  public int minor() {
    Matcher release = RELEASE.matcher(version);
    return release.matches() ? Integer.parseInt(release.group(2)) : 0;
  }

  @Override
  public String toString() {
    return product + " " + version;
  }

  private static String text(@Nullable Object value) {
    return value == null ? "unknown" : value.toString();
  }
}
