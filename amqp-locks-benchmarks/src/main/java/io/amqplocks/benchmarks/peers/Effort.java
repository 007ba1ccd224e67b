package io.amqplocks.benchmarks.peers;

import java.time.Duration;

/**
 * How much of everything is measured.
 *
 * @param warmUp of each kind of lock before it is measured alone
 * @param alone of all kinds together
 * @param slice of each kind in each pass under contention
 * @param processSlice of each kind in each pass among processes
 * @param passes under contention, after one that does not count
 * @param names new ones for each kind
 * @param tries of each kind, while it is busy
 * @param handOvers of each kind, after some that do not count
 * @param processHandOvers the same, between processes
 * @param held at once of each kind, by one client
 * @param deaths of a holder of each kind
 */
record Effort(
    Duration warmUp,
    Duration alone,
    Duration slice,
    Duration processSlice,
    int passes,
    int names,
    int tries,
    int handOvers,
    int processHandOvers,
    int held,
    int deaths) {

  /** That of a whole run, or of a first look. */
  static Effort of(boolean quick) {
    return quick
        ? new Effort(
            Duration.ofMillis(200),
            Duration.ofSeconds(6),
            Duration.ofMillis(200),
            Duration.ofMillis(200),
            2,
            20,
            50,
            10,
            5,
            100,
            1)
        : new Effort(
            Duration.ofSeconds(2),
            Duration.ofSeconds(60),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            5,
            200,
            2_000,
            150,
            100,
            1_000,
            2);
  }
}
