package io.amqplocks.internal.session;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The server at the other end, as it introduces itself.
 *
 * @param product its name
 * @param version its version
 */
public record Server(String product, String version) {

  private static final String KNOWN = "RabbitMQ";
  private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\b.*");
  private static final int OLDEST_MAJOR = 3;
  private static final int OLDEST_MINOR = 10;

  /** Reads the server properties of a connection; what it does not say is "unknown". */
  static Server of(Map<String, Object> properties) {
    return new Server(text(properties.get("product")), text(properties.get("version")));
  }

  /** What an operator should know of it: that nobody has tried the locks on such a server. */
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

  /** Whether it says that it is RabbitMQ. */
  boolean isRabbit() {
    return product.equals(KNOWN);
  }

  /** The first number of its version; 0 if that says nothing. */
  public int major() {
    Matcher release = RELEASE.matcher(version);
    return release.matches() ? Integer.parseInt(release.group(1)) : 0;
  }

  /** Whether it is RabbitMQ of that version or newer. */
  public boolean isAtLeast(int major, int minor) {
    Matcher release = RELEASE.matcher(version);
    if (!product.equals(KNOWN) || !release.matches()) {
      return false;
    }
    int first = Integer.parseInt(release.group(1));
    return first > major || (first == major && Integer.parseInt(release.group(2)) >= minor);
  }

  /** The second number of its version; 0 if that says nothing. */
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
