package io.amqplocks.consumer;

import java.time.Duration;
import java.util.Collections;
import java.util.List;

/**
 * How long a connection may take to get all answers that a consumer needs before its first message.
 * If a broker was too slow, the next connection has twice as long: a busy broker may need that. A
 * single answer may take 10 s at most all the same.
 *
 * @param time from the first call on
 */
record Patience(Duration time) {

  /** For a connection after one that was answered in time. */
  static final Patience FIRST = new Patience(Duration.ofSeconds(3));

  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** For a connection after one that was not answered within this. */
  Patience longer() {
    return new Patience(Collections.min(List.of(LONGEST, time.multipliedBy(2))));
  }
}
