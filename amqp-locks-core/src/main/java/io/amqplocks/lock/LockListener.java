package io.amqplocks.lock;

import java.time.Duration;

/**
 * Hears what happens to the locks of one {@code AmqpLocks}. Notices come one at a time, in order, on
 * a thread of the library, some time after the fact; an exception is logged and hurts nobody.
 */
public interface LockListener {

  /** A listener that does nothing. */
  LockListener NO_OP = new LockListener() {};

  /** How an attempt ended that brought no lease. */
  enum Outcome {
    /** All slots were held, and the caller did not want to wait. */
    BUSY,
    /** All slots were held for as long as the caller would wait. */
    TIMEOUT,
    /** The waiting thread was interrupted. */
    INTERRUPTED,
    /** Something was broken, and an exception was thrown. */
    ERROR
  }

  /**
   * A lease was acquired.
   *
   * @param waited from the call until it had the lease
   */
  default void acquired(Lease lease, Duration waited) {}

  /**
   * A call ended without a lease.
   *
   * @param waited from the call to its end
   */
  default void notAcquired(LockId lock, Outcome outcome, Duration waited) {}

  /**
   * A lease was given back by its holder.
   *
   * @param held from acquire to release
   */
  default void released(Lease lease, Duration held) {}

  /**
   * A lease was lost.
   *
   * @param held from acquire to the moment that the loss was known
   */
  default void lost(Lease lease, LossReason reason, Duration held) {}

  /** A session with the broker was opened. */
  default void sessionOpened() {}

  /**
   * The session with the broker ended; all its leases are lost.
   *
   * @param detail what ended it
   */
  default void sessionEnded(String detail) {}
}
