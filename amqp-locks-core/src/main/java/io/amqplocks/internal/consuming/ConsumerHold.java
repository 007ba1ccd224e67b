package io.amqplocks.internal.consuming;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A hold by a consumer of a classic queue. The queue's own process admits one exclusive consumer,
 * or any number of shared ones. So the client that has the consume-ok holds, and nothing else needs
 * to be secured.
 *
 * <p>The broker reports the end of the consumer by itself, by a basic.cancel or by closing the
 * channel. Either one arrives before anything that the broker sends later on that connection. A
 * verification also proves that the connection lives, and that the queue has exactly one consumer,
 * or at least one if it is shared. The broker does not name consumers. So there is a moment at
 * which another client's consumer would be taken for ours: when the queue was deleted and declared
 * again, and the notification is still under way.
 *
 * @param lock the lock
 * @param consumer its consumer
 * @param access whether the consumer is the only one
 * @param turn the turn at the gate, which is given back after the lock; null if there is none
 */
public record ConsumerHold(
    LockId lock, HoldingConsumer consumer, Access access, @Nullable HeldLease turn)
    implements Hold {

  /** An exclusive hold that keeps a turn. */
  public ConsumerHold(LockId lock, HoldingConsumer consumer, HeldLease turn) {
    this(lock, consumer, Access.EXCLUSIVE, turn);
  }

  @Override
  public int slot() {
    return 1;
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
      consumers = HoldingConsumers.of(session).count(call, queueName());
    } catch (LockException.Unanswered e) {
      return HoldStatus.UNKNOWN;
    } catch (LockException.Conflict e) {
      return HoldStatus.GONE;
    }
    if (consumers.isEmpty() || consumer.isGone()) {
      return HoldStatus.GONE;
    }
    int found = consumers.getAsInt();
    if (found < 1 || (access == Access.EXCLUSIVE && found > 1)) {
      consumer.notAlone(found);
      return HoldStatus.GONE;
    }
    return HoldStatus.OURS;
  }

  /** Both steps are within the call. What it has no time left for is done in the background. */
  @Override
  public void release(Call call, Session session) {
    HoldingConsumers.of(session).release(call, consumer);
    if (turn != null) {
      LeaseFactory.giveBack(call, turn);
    }
  }

  /** A reader of this process that came later than a writer elsewhere is not to overtake it. */
  @Override
  public boolean mayBeHandedTo(boolean fenced) {
    return access == Access.EXCLUSIVE && !fenced;
  }

  @Override
  public String queueName() {
    return consumer.queue();
  }

  @Override
  public LossReason loss() {
    return new LossReason(Cause.REVOKED, consumer.fate());
  }
}
