package io.amqplocks.admin;

import io.amqplocks.lock.LockException;

/**
 * Inspects one mutex. There is nothing to change, because a mutex needs no creating. Only its
 * holder can release it, or an operator by deleting its queue at the broker.
 */
public interface MutexAdmin {

  /**
   * Whether somebody holds the mutex. The answer may be outdated when this returns.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   * @throws LockException if there is no connection to the broker, it refuses the request, or the
   *     locks are closed
   */
  boolean isHeld();
}
