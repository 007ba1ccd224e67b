package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.internal.lease.ReleaseListener;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.wakeup.WakeQueues;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;

/**
 * Notifies the waiters of this process and of others that a slot was given back. Both are notified
 * in the same way, and the broker selects them in turns. So a process gets no advantage from its
 * own releases, beyond the time for which it may hand a slot over.
 *
 * @param waitQueues the waiters of this process
 * @param names the names of the wake queues
 */
public record ReleaseNotifier(WaitQueues waitQueues, QueueNames names) implements ReleaseListener {

  @Override
  public void freed(LockId lock, Session session) {
    if (!session.isOpen()) {
      // Lost with its session. The waiters of this process try on the next session.
      waitQueues.released(lock);
      return;
    }
    switch (lock.kind()) {
      case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE -> tell(lock, session);
      case READ_LOCK -> {
        // A writer whose turn it is waits until there are no readers.
        tell(new LockId(LockKind.WRITE_LOCK, lock.name()), session);
      }
      case MUTEX, PERSISTENT_MUTEX, TOKEN_SEMAPHORE, FENCED_MUTEX, WRITE_LOCK -> {
        // When a message comes back, the broker itself sends it to a waiter.
      }
    }
  }

  /** If an alarm blocks publishers, at least the waiters of this process are notified. */
  private void tell(LockId lock, Session session) {
    WakeQueues.of(session).tell(lock, names.wake(lock), () -> waitQueues.released(lock));
  }

  @Override
  public boolean offer(BrokerGrant slot) {
    return waitQueues.offer(slot);
  }
}
