package io.amqplocks.lock;

import java.time.Instant;
import java.util.Optional;

/**
 * The state of one {@code AmqpLocks} at a glance, for operators.
 *
 * @param session whether there is a session with the broker, and, once quorum tokens have needed a
 *     session of their own, whether that one is open too
 * @param blocked whether a memory or disk alarm of the broker stops this client from publishing;
 *     the broker tells it so when it tries. Leases are not affected. Slots cannot be looked for
 *     by publishing, and mutexes that are not in use yet cannot be made
 * @param held how many leases are held or uncertain
 * @param uncertain how many of them the broker has not confirmed for too long
 * @param waiting how many calls of this process wait for a slot
 * @param lastLoss the lease that was lost last since the start, and why
 * @param lastLossAt when it was lost
 */
public record LocksStatus(
    Session session,
    boolean blocked,
    int held,
    int uncertain,
    int waiting,
    Optional<String> lastLoss,
    Optional<Instant> lastLossAt) {

  /** The state of the session with the broker. */
  public enum Session {
    /** Nothing has needed the broker yet. */
    NOT_OPENED,
    /** Connected. */
    OPEN,
    /** A session has ended. The next acquire that needs it opens a new one. */
    ENDED,
    /** This {@code AmqpLocks} was closed. */
    CLOSED
  }
}
