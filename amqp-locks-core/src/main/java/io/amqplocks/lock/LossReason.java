package io.amqplocks.lock;

/**
 * Why a lease was lost.
 *
 * @param cause what happened, to branch on
 * @param detail the same in words, with what the broker said
 */
public record LossReason(Cause cause, String detail) {

  /** What can take a lease from its holder. */
  public enum Cause {
    /** The connection that held the lease ended: network, broker or client. */
    SESSION_ENDED,
    /**
     * The broker answered nothing for three heartbeats, as after a long pause of this process, so it
     * may have dropped the connection. The client then drops it as well.
     */
    EXPIRED,
    /**
     * The broker took the lease away. Its queue was deleted, by an operator, a policy or the broker,
     * or by an administrator who disabled the persistent mutex; or its queue crashed; or the broker
     * believed that the holder was gone, and gave its token to another.
     */
    REVOKED,
    /** An administrator removed the slot; the holder has let go of it. */
    SLOT_REMOVED,
    /**
     * The token was held without a verification for longer than the broker lets a message be
     * unacknowledged ({@code consumer_timeout}, 30 minutes by default), and the broker took it back.
     * RabbitMQ 4.3 does not say that this was the reason; there the cause is {@link #REVOKED}.
     */
    HELD_TOO_LONG
  }

  @Override
  public String toString() {
    return cause + " (" + detail + ")";
  }
}
