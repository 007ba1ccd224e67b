package io.amqplocks.test;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server ended a connection because of an error of its own, usually 541. First it ends the
 * channels. Then it tells the client, which may be many seconds later if one of them hangs.
 *
 * @param name what the client called its connection
 * @param at when the server began to do so
 */
public record ConnectionError(String name, Instant at) {

  private static final Pattern LINE =
      Pattern.compile(
          "(\\S+) (\\S+) \\[error] \\S+ Error on AMQP connection \\S+"
              + " \\(\\S+ -> \\S+ - (.+), vhost: .*, state: running\\), channel \\d+:");

  /** What that line of a server's log says of it; empty if it is about something else. */
  static Optional<ConnectionError> of(String line) {
    Matcher matcher = LINE.matcher(line);
    return matcher.matches()
        ? Optional.of(
            new ConnectionError(
                matcher.group(3),
                OffsetDateTime.parse(matcher.group(1) + "T" + matcher.group(2)).toInstant()))
        : Optional.empty();
  }
}
