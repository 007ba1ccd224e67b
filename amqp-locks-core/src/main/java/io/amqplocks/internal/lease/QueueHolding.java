package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Answer;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.RevocationWatch;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Watch;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holding by an exclusive queue: whoever owns B holds, for as long as A exists, if there is an A. The
 * guideline verifies A alone and so misses that B was lost and is another's by now; here B is asked for
 * on the connection that must own it, and A after it.
 *
 * <p>Concurrency: the watch is written once, when the holding is secured, before the lease is known to any
 * other thread; volatile, since those come by ways of their own.
 */
public final class QueueHolding implements Holding {

  private static final Logger log = LoggerFactory.getLogger(QueueHolding.class);

  private final LockId lock;
  private final int slot;
  private final String holderQueue;
  private final @Nullable String slotQueue;
  private volatile @Nullable Watch watch;

  /**
   * Of that slot.
   *
   * @param lock the lock
   * @param slot which slot of it, from 1
   * @param holderQueue B
   * @param slotQueue A, or null if the lock has no slots that could be removed
   */
  public QueueHolding(LockId lock, int slot, String holderQueue, @Nullable String slotQueue) {
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
  public boolean contend(Call call, Session session) {
    return session.holders().take(call, holderQueue);
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    RevocationWatch revocations = session.revocations();
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
    Answer answer = session.slots().exists(call, slotQueue);
    if (answer == Answer.NONE) {
      throw call.unanswered("look for queue " + slotQueue);
    }
    return answer == Answer.OK;
  }

  /** B's answer decides; A, whose node may be down, can only end it. */
  @Override
  public Standing standing(Call call, Session session) {
    Answer holder = session.holders().owns(call, holderQueue);
    if (holder == Answer.NONE) {
      return Standing.UNKNOWN;
    }
    if (holder != Answer.OK) {
      return Standing.GONE;
    }
    return slotWasRemoved(call, session) ? Standing.SLOT_REMOVED : Standing.OURS;
  }

  private boolean slotWasRemoved(Call call, Session session) {
    try {
      return slotQueue != null && session.slots().exists(call, slotQueue) == Answer.ABSENT;
    } catch (LockException.Unexpected | LockException.Unanswered e) {
      log.debug("{}: whether slot {} still exists cannot be told: {}", lock, slot, e.getMessage());
      return false;
    }
  }

  @Override
  public void release(Call call, Session session) {
    Watch begun = watch;
    if (begun != null) {
      begun.stop(call);
    }
    session.holders().release(call, holderQueue);
  }

  @Override
  public String trace() {
    return holderQueue;
  }
}
