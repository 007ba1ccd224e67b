package io.amqplocks.internal.lease;

import io.amqplocks.lock.LeaseState;
import java.time.Duration;

/**
 * How long after its last confirmation a lease may be believed in. The broker drops a client that has
 * been silent for two heartbeats, and at the latest after three (trap 5). A confirmation proves that
 * the client was not silent when it asked: so for a little less than two heartbeats from then the lease
 * is certain, and after three it must be given up.
 *
 * @param certain how long it is HELD
 * @param expired when it is LOST; in between it is UNCERTAIN
 */
record Certainty(Duration certain, Duration expired) {

  /** What follows from a heartbeat: a quarter of it is left for the clocks' and the network's drift. */
  static Certainty of(Duration heartbeat) {
    return new Certainty(
        heartbeat.multipliedBy(2).minus(heartbeat.dividedBy(4)), heartbeat.multipliedBy(3));
  }

  /** What a lease is whose last good verification was sent that long ago, if nothing else ended it. */
  LeaseState after(long nanos) {
    if (nanos < certain.toNanos()) {
      return LeaseState.HELD;
    }
    return nanos < expired.toNanos() ? LeaseState.UNCERTAIN : LeaseState.LOST;
  }
}
