package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldSlot;
import io.amqplocks.internal.lease.Waiters;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockId;

/**
 * Tells those who wait, here and elsewhere, that a slot was given back. Elsewhere and here alike: the
 * broker chooses in turns whom to tell, so that a process gets no advantage of its own releases beyond
 * the time for which it may hand a slot over.
 *
 * @param lines those who wait here
 * @param names how the queues are called that tell
 */
public record Announcements(WaitingLines lines, QueueNames names) implements Waiters {

  @Override
  public void freed(LockId lock, Session session) {
    if (!session.isOpen()) {
      // Lost with its session: whoever waits here tries on the next one.
      lines.released(lock);
      return;
    }
    switch (lock.kind()) {
      case MUTEX, PERSISTENT_MUTEX, SEMAPHORE -> {
        if (!session.wakes().tell(lock, names.wake(lock))) {
          // An alarm stops those who publish: at least here everybody shall know.
          lines.released(lock);
        }
      }
      case TOKEN_SEMAPHORE, FENCED_MUTEX -> {
        // The broker itself sends a token that came back to whoever waits.
      }
    }
  }

  @Override
  public boolean offer(HeldSlot slot) {
    return lines.offer(slot);
  }
}
