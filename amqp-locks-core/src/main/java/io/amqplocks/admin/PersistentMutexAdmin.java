package io.amqplocks.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;

/**
 * Administers one persistent mutex, which can be held only while it is enabled. It is enabled while
 * its durable queue exists at the broker, so the state outlives every client.
 *
 * <p>Methods may be called from any process at any time. One administrator at a time enables or
 * disables; another one waits for at most 30 s. Each change is atomic and may be repeated after a
 * crash; the last one counts. A call that got no reply may still take effect, so repeat it.
 */
public interface PersistentMutexAdmin {

  /**
   * Enables the mutex. It can be acquired when this returns. Does nothing if it is enabled.
   *
   * @throws LockException.Conflict if a queue of another type has the mutex's queue name; it is
   *     left unchanged
   */
  void enable();

  /**
   * Disables the mutex. It can no longer be acquired. Does nothing if it is not enabled. The holder
   * loses its lease with {@link LossReason.Cause#REVOKED} and is notified within some milliseconds.
   * Waiters get {@link LockException.NotFound}. Disabling and enabling again revokes the mutex from
   * its holder.
   */
  void disable();

  /** Whether the mutex can be acquired. */
  boolean isEnabled();

  /**
   * Whether somebody holds the mutex; false if it is disabled. The answer may be outdated when this
   * returns.
   */
  boolean isHeld();
}
