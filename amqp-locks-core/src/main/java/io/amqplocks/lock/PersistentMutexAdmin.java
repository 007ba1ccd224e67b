package io.amqplocks.lock;

/**
 * Administration of one persistent mutex: a mutex that can be held only while it is enabled. That state
 * outlives every client, as it is a durable queue at the broker.
 *
 * <p>Calls may be made from any process at any time. Enabling and disabling is done by one administrator
 * at a time, who waits for another for 30 s at most; each happens as a whole or not at all, may be
 * repeated after a crash, and the last one counts. A call that gets no answer may still take effect; make
 * it again.
 */
public interface PersistentMutexAdmin {

  /**
   * Lets the mutex be held, from when this returns. Does nothing if it is enabled.
   *
   * @throws LockException.Conflict if another kind of queue has its queue's name; it is left as it is
   */
  void enable();

  /**
   * Lets nobody hold the mutex any more. Does nothing if it is not enabled. Whoever holds it loses the
   * lease with {@link LossReason.Cause#REVOKED} and is told at once, some milliseconds later; who wants
   * it gets {@link LockException.NotFound}. Disabling and enabling again takes the mutex from a holder
   * by force.
   */
  void disable();

  /** Whether it can be held. */
  boolean isEnabled();

  /** Whether somebody holds it now; a disabled one nobody does. */
  boolean isHeld();
}
