package io.amqplocks.lock;

/**
 * What an administrator can ask of one mutex. There is nothing to change: it needs no creating, and only
 * its holder can give it back, or an operator who deletes its queue at the broker.
 */
public interface MutexAdmin {

  /**
   * Whether somebody holds it now; old by the time it returns.
   *
   * @throws LockException.Unanswered if the broker did not say
   * @throws LockException if there is no connection to it, it refuses, or the locks are closed
   */
  boolean isHeld();
}
