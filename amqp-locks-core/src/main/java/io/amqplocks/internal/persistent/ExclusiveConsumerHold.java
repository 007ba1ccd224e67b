package io.amqplocks.internal.persistent;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.OptionalInt;

/**
 * A hold by an exclusive consumer of a durable classic queue. The queue's own process admits one
 * consumer. So the client that has the consume-ok holds, and nothing else needs to be secured.
 *
 * <p>The broker reports the end of the consumer by itself, by a basic.cancel or by closing the
 * channel. Either one arrives before anything that the broker sends later on that connection. A
 * verification also proves that the connection lives and that the queue has exactly one consumer.
 * The broker does not name consumers. So there is a moment at which another client's consumer would
 * be taken for ours: when the queue was deleted and declared again, and the notification is still
 * under way.
 */
public final class ExclusiveConsumerHold implements Hold {

  private final LockId lock;
  private final int slot;
  private final String queue;
  private final ExclusiveConsumer consumer;

  /** Contends for that slot of the lock by consuming its queue. */
  public static Contest contest(LockId lock, int slot, String queue) {
    return (call, session) ->
        ExclusiveConsumers.of(session)
            .take(call, queue)
            .map(consumer -> new ExclusiveConsumerHold(lock, slot, queue, consumer));
  }

  private ExclusiveConsumerHold(LockId lock, int slot, String queue, ExclusiveConsumer consumer) {
    this.lock = lock;
    this.slot = slot;
    this.queue = queue;
    this.consumer = consumer;
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
    consumer.whenGone(revoked);
    return !consumer.isGone();
  }

  @Override
  public HoldStatus status(Call call, Session session) {
    OptionalInt consumers;
    try {
      consumers = ExclusiveConsumers.of(session).count(call, queue);
    } catch (LockException.Unanswered e) {
      return HoldStatus.UNKNOWN;
    } catch (LockException.Conflict e) {
      return HoldStatus.GONE;
    }
    if (consumers.isEmpty() || consumer.isGone()) {
      return HoldStatus.GONE;
    }
    if (consumers.getAsInt() != 1) {
      consumer.notAlone(consumers.getAsInt());
      return HoldStatus.GONE;
    }
    return HoldStatus.OURS;
  }

  @Override
  public void release(Call call, Session session) {
    ExclusiveConsumers.of(session).release(call, consumer);
  }

  @Override
  public String queueName() {
    return queue;
  }

  @Override
  public LossReason loss() {
    return new LossReason(Cause.REVOKED, consumer.fate());
  }
}
