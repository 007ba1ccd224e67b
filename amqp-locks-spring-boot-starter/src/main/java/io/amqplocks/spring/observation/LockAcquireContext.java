package io.amqplocks.spring.observation;

import io.amqplocks.lock.LockId;

/** The context of an observed call for a lock. */
public final class LockAcquireContext extends LockContext {

  /** The context of a call that begins. */
  public LockAcquireContext(LockId lock, String lockName) {
    super(lock, lockName);
  }
}
