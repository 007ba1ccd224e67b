package io.amqplocks.internal.exclusive;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold by an exclusive queue. The owner of B holds. If the lock has slots, it holds only while A
 * exists. The guideline verifies A alone. That does not detect that B was lost and belongs to
 * another client by now. So B is verified here on the connection that must own it, and A after it.
 *
 * <p>Concurrency: the watch is written once, when the hold is secured, before any other thread
 * knows the lease. It is volatile, because other threads get the lease in ways of their own.
 */
public final class ExclusiveQueueHold implements Hold {

  private static final Logger log = LoggerFactory.getLogger(ExclusiveQueueHold.class);

  /** The news of a consumer's end come within this time, also from a busy broker. */
  private static final Duration NEWS = Duration.ofSeconds(10);

  private final LockId lock;
  private final int slot;
  private final String holderQueue;
  private final @Nullable String slotQueue;
  private volatile @Nullable QueueWatch watch;

  /**
   * Contends for a slot by declaring its holder queue.
   *
   * @param lock the lock
   * @param slot the slot, from 1
   * @param holderQueue the name of B
   * @param slotQueue the name of A, or null if the lock has no slots that could be removed
   */
  public static Contest contest(
      LockId lock, int slot, String holderQueue, @Nullable String slotQueue) {
    return (call, session) ->
        ExclusiveQueues.of(session).take(call, holderQueue)
            ? Optional.of(new ExclusiveQueueHold(lock, slot, holderQueue, slotQueue))
            : Optional.empty();
  }

  private ExclusiveQueueHold(
      LockId lock, int slot, String holderQueue, @Nullable String slotQueue) {
    this.lock = lock;
    this.slot = slot;
    this.holderQueue = holderQueue;
    this.slotQueue = slotQueue;
  }

  @Override
  public LockId lock() {
    return lock;
  }

  @Override
  public int slot() {
    return slot;
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    QueueDeletionWatch revocations = QueueDeletionWatch.of(session);
    if (revocations.mayWatch(holderQueue)) {
      watch = revocations.watchSoon(holderQueue, revoked);
    } else if (!revocations.watch(call, holderQueue, revoked)) {
      return false;
    }
    return slotIsThere(call, session);
  }

  private boolean slotIsThere(Call call, Session session) {
    if (slotQueue == null) {
      return true;
    }
    return session.durableQueues().exists(call, slotQueue) == Answer.OK;
  }

  /** The reply about B decides. A, whose node may be down, can only end the hold. */
  @Override
  public HoldStatus status(Call call, Session session) {
    try {
      if (!ExclusiveQueues.of(session).owns(call, holderQueue)) {
        QueueDeletionWatch.of(session).requireEnd(session, holderQueue, NEWS);
        return HoldStatus.GONE;
      }
    } catch (LockException.Unanswered e) {
      return HoldStatus.UNKNOWN;
    }
    return slotWasRemoved(call, session) ? HoldStatus.SLOT_REMOVED : HoldStatus.OURS;
  }

  private boolean slotWasRemoved(Call call, Session session) {
    try {
      return slotQueue != null && session.durableQueues().exists(call, slotQueue) == Answer.ABSENT;
    } catch (LockException.Unexpected | LockException.Unanswered e) {
      log.debug("{}: whether slot {} still exists cannot be told: {}", lock, slot, e.getMessage());
      return false;
    }
  }

  @Override
  public void release(Call call, Session session) {
    QueueWatch begun = watch;
    if (begun != null) {
      // A call without any time left would not even send the delete.
      begun.stop(call.half());
    }
    ExclusiveQueues.of(session).release(call, holderQueue);
  }

  @Override
  public String queueName() {
    return holderQueue;
  }
}
