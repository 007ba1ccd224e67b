package io.amqplocks.lock;

import java.time.Duration;

/**
 * Is notified of what happens to the locks of one {@code AmqpLocks}. Notifications come one at a
 * time, in order, on a thread of the library, some time after the fact. An exception is logged and
 * has no other effect.
 */
public interface LockListener {

  /** A listener that does nothing. */
  LockListener NO_OP = new LockListener() {};

  /** How an attempt ended that did not acquire a lease. */
  enum Outcome {
    /** All slots were held, and the caller did not want to wait. */
    BUSY,
    /** All slots were held for as long as the caller waited. */
    TIMEOUT,
    /** The waiting thread was interrupted. */
    INTERRUPTED,
    /** Something was broken, and an exception was thrown. */
    ERROR
  }

  /**
   * A lease was acquired.
   *
   * @param waited the time from the call to the lease
   */
  default void acquired(Lease lease, Duration waited) {}

  /**
   * A call ended without a lease.
   *
   * @param waited the time from the call to its end
   */
  default void notAcquired(LockId lock, Outcome outcome, Duration waited) {}

  /**
   * A lease was released by its holder.
   *
   * @param held the time from acquire to release
   */
  default void released(Lease lease, Duration held) {}

  /**
   * A lease was lost.
   *
   * @param held the time from acquire to the moment at which the loss was known
   */
  default void lost(Lease lease, LossReason reason, Duration held) {}

  /** A session with the broker was opened. */
  default void sessionOpened() {}

  /**
   * The session with the broker ended. All its leases are lost.
   *
   * @param detail what ended it
   */
  default void sessionEnded(String detail) {}
}
