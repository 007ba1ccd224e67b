package io.amqplocks.internal.lease;

import io.amqplocks.internal.lease.LeaseStatus.Phase;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;

/**
 * The age of one lease, and how certain it is by the clock.
 *
 * <p>Concurrency: the lease ends once, by one thread. That thread writes the time of the end before
 * it writes the flag.
 */
final class LeaseClock {

  private final Session session;
  private final LeaseRegistry registry;
  private final Certainty certainty;
  private final long acquiredAt;
  private volatile long endedAt;
  private volatile boolean ended;

  LeaseClock(Session session, LeaseRegistry registry) {
    this.session = session;
    this.registry = registry;
    certainty = Certainty.of(session.heartbeat(), session.certainFor());
    acquiredAt = registry.nanos();
  }

  void end() {
    endedAt = registry.nanos();
    ended = true;
  }

  /** How long the lease has lasted, or did last if it has ended. */
  Duration age() {
    return Duration.ofNanos((ended ? endedAt : registry.nanos()) - acquiredAt);
  }

  /** The state by the clock of a lease whose last good verification is in that status. */
  LeaseState state(LeaseStatus status) {
    return certainty.after(registry.nanos() - status.verifiedAt(), session.silentNanos());
  }

  /** Whether the lease was acquired and is HELD by the clock. */
  boolean isHeld(LeaseStatus status) {
    return status.phase() == Phase.HELD && state(status) == LeaseState.HELD;
  }

  /** The time since the last good verification was sent. */
  Duration unconfirmed(LeaseStatus status) {
    return Duration.ofNanos(registry.nanos() - status.verifiedAt());
  }

  /** The reason of the loss when the time is over. */
  LossReason expiry() {
    String why =
        "RabbitMQ has not answered for %d s, three heartbeats"
            .formatted(certainty.expired().toSeconds());
    return new LossReason(Cause.EXPIRED, why);
  }

  /**
   * How long after its last verification a lease is certain. The broker drops a client that has
   * been silent for two heartbeats, and after three at the latest (trap 5). A confirmation proves
   * that the client was not silent when it sent the request. So the lease is certain for a little
   * less than two heartbeats from then. Three heartbeats after the last request of any kind that it
   * answered, the broker has dropped the client.
   *
   * @param certain how long after its own last verification a lease is HELD
   * @param quiet how long after the session's last answer none of its leases is HELD any more
   * @param expired how long after the session's last answer all of its leases are LOST
   */
  record Certainty(Duration certain, Duration quiet, Duration expired) {

    /**
     * The times that follow from a heartbeat. A quarter of it is left for the drift of the clocks
     * and the network.
     */
    static Certainty of(Duration heartbeat) {
      return of(heartbeat, heartbeat.multipliedBy(3));
    }

    /**
     * The times that follow from a heartbeat, where a shorter silence makes leases uncertain.
     *
     * @param longestSilence how long that silence may last
     */
    static Certainty of(Duration heartbeat, Duration longestSilence) {
      // Computed in nanoseconds: a Duration multiplies by way of BigDecimal, and this is called for
      // each lease.
      long nanos = heartbeat.toNanos();
      return new Certainty(
          Duration.ofNanos(2 * nanos - nanos / 4), longestSilence, Duration.ofNanos(3 * nanos));
    }

    /**
     * The state of a lease that nothing has ended so far.
     *
     * @param unverified the time since its last good verification was sent, in nanoseconds
     * @param silent the time since the session's last answered request was sent, in nanoseconds
     */
    LeaseState after(long unverified, long silent) {
      if (unverified < certain.toNanos() && silent < quiet.toNanos()) {
        return LeaseState.HELD;
      }
      return silent < expired.toNanos() ? LeaseState.UNCERTAIN : LeaseState.LOST;
    }
  }
}
