package io.amqplocks.admin;

import io.amqplocks.lock.LockException;

/**
 * Inspects one read-write lock. There is nothing to change, because the lock needs no creating.
 * Only its holders can release it, or an operator by deleting its queue at the broker.
 */
public interface ReadWriteLockAdmin {

  /**
   * How many leases there are: those of the readers, or that of one writer. It does not say which
   * of the two a single holder is, because the broker does not. The answer may be outdated when
   * this returns.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   * @throws LockException if there is no connection to the broker, it refuses the request, or the
   *     locks are closed
   */
  int holders();
}
