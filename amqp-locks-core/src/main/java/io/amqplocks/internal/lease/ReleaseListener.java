package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;

/** Is notified when a lease ends, on behalf of the waiters of this process. */
public interface ReleaseListener {

  /** A listener that does nothing. */
  ReleaseListener NONE = (lock, session) -> {};

  /**
   * Called when a slot of that session may have become free at the broker, by release or by loss.
   * Must not block.
   */
  void freed(LockId lock, Session session);

  /**
   * Offers a slot that this process holds at the broker.
   *
   * @return whether a waiter will take it over, or give it back
   */
  default boolean offer(BrokerGrant slot) {
    return false;
  }
}
