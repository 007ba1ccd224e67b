package io.amqplocks.spring.observation;

import io.amqplocks.lock.LockId;

/** What is known of a call for a lock. */
public final class LockAcquireContext extends LockContext {

  /** Of a call that begins. */
  public LockAcquireContext(LockId lock, String lockName) {
    super(lock, lockName);
  }
}
