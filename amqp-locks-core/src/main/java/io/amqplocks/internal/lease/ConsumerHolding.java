package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.HeldConsumer;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Holding by an exclusive consumer of a durable classic queue. The queue's own process admits one, so
 * to have its consume-ok is to hold, and nothing else needs securing.
 *
 * <p>That it is gone, the broker says by itself, by a basic.cancel or by closing the channel; both lie
 * on the connection before whatever the broker sends after them. What is asked on top proves that the
 * connection lives and that the queue knows of exactly one consumer. The broker names no consumers, so
 * for the moment in which its word is still under way, another's on a queue deleted and declared anew
 * would be taken for ours.
 *
 * <p>Concurrency: the consumer is written once, in {@link #contend}, before the lease is known to any
 * other thread; volatile, since those come by ways of their own.
 */
public final class ConsumerHolding implements Holding {

  private final LockId lock;
  private final int slot;
  private final String queue;
  private volatile @Nullable HeldConsumer consumer;

  /** Of that queue, which stands for that slot of the lock. */
  public ConsumerHolding(LockId lock, int slot, String queue) {
    this.lock = lock;
    this.slot = slot;
    this.queue = queue;
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
    consumer = session.consumers().take(call, queue).orElse(null);
    return consumer != null;
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    HeldConsumer ours = consumer;
    if (ours == null) {
      return false;
    }
    ours.whenGone(revoked);
    return !ours.isGone();
  }

  @Override
  public Standing standing(Call call, Session session) {
    OptionalInt consumers;
    try {
      consumers = session.consumers().count(call, queue);
    } catch (LockException.Unanswered e) {
      return Standing.UNKNOWN;
    } catch (LockException.Conflict e) {
      return Standing.GONE;
    }
    HeldConsumer ours = consumer;
    if (ours == null || consumers.isEmpty() || ours.isGone()) {
      return Standing.GONE;
    }
    if (consumers.getAsInt() != 1) {
      ours.notAlone(consumers.getAsInt());
      return Standing.GONE;
    }
    return Standing.OURS;
  }

  @Override
  public void release(Call call, Session session) {
    HeldConsumer ours = consumer;
    if (ours != null) {
      session.consumers().release(call, ours);
    }
  }

  @Override
  public String trace() {
    return queue;
  }

  @Override
  public LossReason loss() {
    HeldConsumer ours = consumer;
    return ours == null ? Holding.super.loss() : new LossReason(Cause.REVOKED, ours.fate());
  }
}
