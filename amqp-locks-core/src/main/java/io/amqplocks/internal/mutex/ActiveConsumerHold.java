package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;

/**
 * A hold by the active consumer of a mutex's queue. The message that the consumer received is the
 * proof, and nothing else needs to be secured.
 *
 * @param lock the mutex
 * @param consumers the consumers of its session
 * @param consumer its consumer, which was active when the hold was won
 * @param unrequested whether the message arrived while nobody waited for an answer. It then does
 *     not prove that the broker hears this client.
 * @param awaitsRelease whether a release waits until the broker has carried it out
 */
record ActiveConsumerHold(
    LockId lock,
    ActiveConsumers consumers,
    ActiveConsumer consumer,
    boolean unrequested,
    boolean awaitsRelease)
    implements Hold {

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
    try {
      return consumers.verify(call, consumer);
    } catch (LockException.Unanswered e) {
      return HoldStatus.UNKNOWN;
    }
  }

  @Override
  public void release(Call call, Session session) {
    if (awaitsRelease) {
      consumers.releaseAndWait(call, consumer);
    } else {
      consumers.release(consumer);
    }
  }

  @Override
  public String queueName() {
    return consumer.queue();
  }

  @Override
  public boolean isPushed() {
    return true;
  }

  /** A pushed message does not prove that the broker hears us. What it carried out last does. */
  @Override
  public long proofAgeNanos(Session session) {
    return unrequested ? session.silentNanos() : 0;
  }

  @Override
  public LossReason loss() {
    return consumer.loss();
  }
}
