package io.amqplocks.lock;

/**
 * Why a lease was lost.
 *
 * @param cause what happened, to branch on
 * @param detail a description, with what the broker said
 */
public record LossReason(Cause cause, String detail) {

  /** The causes of a loss. */
  public enum Cause {
    /**
     * The connection that held the lease ended, because of the network, the broker or the client.
     */
    SESSION_ENDED,
    /**
     * The broker did not reply to anything for three heartbeats, for instance because this process
     * paused for long. The broker may have dropped the connection, so the client drops it as well.
     */
    EXPIRED,
    /**
     * The broker took the lease away. Either its queue was deleted by an operator, a policy, the
     * broker, or an administrator that disabled the persistent mutex. Or its queue crashed. Or the
     * broker believed that the holder was gone, and gave its token to another one. Or this process
     * was told to revoke it, by {@code AmqpLocks.revoke} or a DELETE at the starter's endpoint. The
     * detail says which.
     */
    REVOKED,
    /** An administrator removed the slot, and the holder has released it. */
    SLOT_REMOVED,
    /**
     * The token was held without a verification for longer than the broker lets a message be
     * unacknowledged ({@code consumer_timeout}, 30 minutes by default), and the broker took it
     * back. RabbitMQ 4.3 does not give this reason; there the cause is {@link #REVOKED}.
     */
    HELD_TOO_LONG,
    /**
     * The lease was held for as long as {@link AmqpLock#holdAtMost} allows. This client revoked it,
     * by its own clock. The broker was in no doubt.
     */
    HOLD_LIMIT
  }

  @Override
  public String toString() {
    return cause + " (" + detail + ")";
  }
}
