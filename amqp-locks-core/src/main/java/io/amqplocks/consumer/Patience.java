package io.amqplocks.consumer;

import java.time.Duration;
import java.util.Collections;
import java.util.List;

/**
 * How long the broker has for all answers without which nothing can be consumed. If it does not
 * answer in time, it has twice as long on the next connection: a busy one may need that. To a
 * single call it must answer within 10 s all the same.
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
