package io.amqplocks.internal.lease;

import io.amqplocks.lock.LeaseState;
import java.time.Duration;

/**
 * How long after its last confirmation a lease may be believed in. The broker drops a client that has
 * been silent for two heartbeats, and at the latest after three (trap 5). A confirmation proves that
 * the client was not silent when it asked: so for a little less than two heartbeats from then the lease
 * is certain. Three heartbeats after the last request that it answered, whichever, it has dropped the
 * client.
 *
 * @param certain how long after its own last verification a lease is HELD
 * @param quiet how long after the session's last answer none of its leases is HELD any more
 * @param expired how long after the session's last answer all of its leases are LOST
 */
record Certainty(Duration certain, Duration quiet, Duration expired) {

  /** What follows from a heartbeat: a quarter of it is left for the clocks' and the network's drift. */
  static Certainty of(Duration heartbeat) {
    return of(heartbeat, heartbeat.multipliedBy(3));
  }

  /**
   * The same where a shorter silence ends it.
   *
   * @param longestSilence how long that may last
   */
  static Certainty of(Duration heartbeat, Duration longestSilence) {
    // In nanoseconds: a Duration multiplies by way of BigDecimal, and this is asked for each lease.
    long nanos = heartbeat.toNanos();
    return new Certainty(
        Duration.ofNanos(2 * nanos - nanos / 4), longestSilence, Duration.ofNanos(3 * nanos));
  }

  /**
   * What a lease is that nothing has ended so far.
   *
   * @param unverified how long ago its last good verification was sent, in nanoseconds
   * @param silent how long ago the session's last answered request was sent
   */
  LeaseState after(long unverified, long silent) {
    if (unverified < certain.toNanos() && silent < quiet.toNanos()) {
      return LeaseState.HELD;
    }
    return silent < expired.toNanos() ? LeaseState.UNCERTAIN : LeaseState.LOST;
  }
}
