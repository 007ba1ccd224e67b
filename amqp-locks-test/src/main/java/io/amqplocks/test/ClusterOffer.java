package io.amqplocks.test;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/** What a cluster can be made of here, and what is said if it cannot. */
final class ClusterOffer {

  private ClusterOffer() {}

  /**
   * The server to run: of the first line wanted that keeps its metadata in Khepri, and only there.
   *
   * @throws TestAbortedException if a cluster is not wanted, or there is none to be had
   * @throws IllegalStateException if one is wanted, required, and not to be had
   */
  static Installation find(Map<String, String> environment) {
    refuseBorrowed(environment);
    BrokerOffers offers = BrokerOffers.find(environment);
    List<String> wanted = offers.wanted();
    Optional<String> line =
        offers.wantedOfRabbitMq().stream().filter(ClusterOffer::isLate).findFirst();
    if (line.isEmpty() && !wanted.isEmpty()) {
      throw new TestAbortedException(
          "A cluster takes RabbitMQ 4.3 or newer, and wanted are " + String.join(", ", wanted));
    }
    return line.flatMap(new LocalSource(environment)::find)
        .orElseThrow(
            () ->
                missing(
                    environment,
                    "No RabbitMQ 4.3 or newer is installed on this machine for a cluster (on Debian"
                        + " bin/broker installs one)"));
  }

  /**
   * The server of that line to run, and only there.
   *
   * @throws TestAbortedException if the line is not wanted, or not to be had
   * @throws IllegalStateException if it is wanted, required, and not to be had
   */
  static Installation find(Map<String, String> environment, String line) {
    refuseBorrowed(environment);
    List<String> wanted = BrokerOffers.find(environment).wanted();
    if (!wanted.isEmpty() && !wanted.contains(line)) {
      throw new TestAbortedException(
          "Wanted are %s, not a cluster of RabbitMQ %s".formatted(String.join(", ", wanted), line));
    }
    return new LocalSource(environment)
        .find(line)
        .orElseThrow(
            () ->
                missing(
                    environment,
                    "No RabbitMQ %s is installed on this machine for a cluster".formatted(line)));
  }

  private static void refuseBorrowed(Map<String, String> environment) {
    if (!environment.getOrDefault("AMQP_LOCKS_BROKER_URI", "").isEmpty()) {
      throw new TestAbortedException(
          "A cluster is started here, not borrowed, and AMQP_LOCKS_BROKER_URI names a broker");
    }
  }

  private static boolean isLate(String line) {
    return BrokerVersion.parse(line).isAtLeast(4, 3);
  }

  /** The error or the abort that says it. */
  static RuntimeException missing(Map<String, String> environment, String why) {
    return Boolean.parseBoolean(environment.get("AMQP_LOCKS_BROKER_REQUIRED"))
        ? new IllegalStateException(why)
        : new TestAbortedException(why);
  }
}
