package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;

/** Those of this process who wait for a slot, as a lease that ends sees them. */
public interface Waiters {

  /** Nobody. */
  Waiters NONE = (lock, session) -> {};

  /** A slot of that session may have come free at the broker, by release or by loss. Must not block. */
  void freed(LockId lock, Session session);

  /**
   * A slot that is ours at the broker may be taken over.
   *
   * @return whether somebody will: take it over, or give it back
   */
  default boolean offer(HeldSlot slot) {
    return false;
  }
}
