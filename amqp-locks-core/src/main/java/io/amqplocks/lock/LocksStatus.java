package io.amqplocks.lock;

import java.time.Instant;
import java.util.Optional;

/**
 * What an operator wants to know of one {@code AmqpLocks} at a glance.
 *
 * @param session whether there is a session with the broker; and, once quorum tokens have needed a
 *     session of their own, whether that one is there too
 * @param blocked whether a memory or disk alarm of the broker holds up this client's publishes: held
 *     leases are fine, slots cannot be looked for
 * @param held leases held or uncertain
 * @param uncertain how many of them the broker has not confirmed for too long
 * @param waiting calls waiting for a slot in this process
 * @param lastLoss the newest lost lease and why, since start
 * @param lastLossAt when that was
 */
public record LocksStatus(
    Session session,
    boolean blocked,
    int held,
    int uncertain,
    int waiting,
    Optional<String> lastLoss,
    Optional<Instant> lastLossAt) {

  /** The life of the session with the broker. */
  public enum Session {
    /** Nothing has needed the broker yet. */
    NOT_OPENED,
    /** Connected. */
    OPEN,
    /** One that was open has ended; the next acquire that needs it opens a new one. */
    ENDED,
    /** This {@code AmqpLocks} was closed. */
    CLOSED
  }
}
