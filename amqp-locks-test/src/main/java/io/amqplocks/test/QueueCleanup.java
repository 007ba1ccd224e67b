package io.amqplocks.test;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A node of a cluster found the node of some exclusive queues again, and deleted them, because it
 * took them for dead. RabbitMQ 4.3.6 deletes living ones too, which may be another node's by then.
 *
 * @param node the node of the queues as far as the deleting one knew, from 1
 * @param queues how many there were
 * @param ended when that was over
 * @param took how long it took to choose them and delete them
 */
public record QueueCleanup(int node, int queues, Instant ended, Duration took) {

  private static final Pattern LINE =
      Pattern.compile(
          "(\\S+) (\\S+) \\[info] \\S+ (\\d+) transient queues from node '(.+)'"
              + " deleted in ([0-9.]+)s");

  /** What that line of a server's log says of it; empty if it is about something else. */
  static Optional<QueueCleanup> of(String line, ClusterNetwork network) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    Instant at = OffsetDateTime.parse(matcher.group(1) + "T" + matcher.group(2)).toInstant();
    long nanos = Math.round(Double.parseDouble(matcher.group(5)) * 1e9);
    return Optional.of(
        new QueueCleanup(
            network.number(matcher.group(4)),
            Integer.parseInt(matcher.group(3)),
            at,
            Duration.ofNanos(nanos)));
  }
}
