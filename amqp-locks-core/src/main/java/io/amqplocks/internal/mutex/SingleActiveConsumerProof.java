package io.amqplocks.internal.mutex;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Proves that a queue has a single active consumer, where no declare can. On any other queue
 * several clients would be sent a message each. The caller's consumer was sent a message. A second
 * consumer begins beside it. If the queue keeps a message and does not send it to the second one,
 * which has room, then only the first one is served.
 *
 * <p>That is so for classic queues. A queue of another type counts messages that it is about to
 * send, or keeps them all. So an exclusive consumer is tried first, which every classic queue
 * refuses that has another one, and no queue of another type does (trap 16).
 *
 * @param consumers begins and ends the second consumer
 * @param inspection looks at the queue
 * @param queues gives the queue a message to keep
 */
record SingleActiveConsumerProof(
    ActiveConsumers consumers, ActiveConsumerInspection inspection, MutexQueues queues) {

  private static final long SHORTEST_PAUSE = Duration.ofNanos(250_000).toNanos();

  /** So many messages are lost by a policy rather than by chance. */
  private static final int MANY = 3;

  private static final long LONGEST_PAUSE = Duration.ofMillis(10).toNanos();

  /**
   * Whether the queue serves only this active consumer. If not, the consumer is gone.
   *
   * @throws LockException.NotFound if the queue was deleted
   * @throws LockException.Conflict if the queue serves others beside it; the consumer is gone then
   * @throws LockException.Unanswered if that cannot be found out in time
   */
  boolean of(Call call, ActiveConsumer active) {
    ActiveConsumer second = begin(call, active);
    if (second == null) {
      return false;
    }
    try {
      return isOnlyServed(call, active, second);
    } finally {
      // Or it would be next if the mutex is released at once.
      consumers.releaseAndWait(call, second);
    }
  }

  /** Begins a second consumer; null if the queue is being deleted, or its process ended. */
  private @Nullable ActiveConsumer begin(Call call, ActiveConsumer active) {
    String why;
    try {
      if (!consumers.refusesExclusive(call, active.queue())) {
        active.gone(
            new LossReason(Cause.REVOKED, "queue %s is no classic one".formatted(active.queue())));
        throw queues.foreign(
            call,
            active.queue(),
            "it is no classic queue, which would refuse an exclusive consumer");
      }
      ActiveConsumer second = consumers.consumeBeside(call, active.queue());
      if (second != null) {
        return second;
      }
      why = "queue %s was deleted".formatted(active.queue());
    } catch (LockException.Unexpected e) {
      if (!BrokerErrors.isQueueUnavailable(e)) {
        throw e;
      }
      why = BrokerErrors.text(e.getCause());
    }
    active.gone(new LossReason(Cause.REVOKED, why));
    return null;
  }

  private boolean isOnlyServed(Call call, ActiveConsumer active, ActiveConsumer second) {
    Channel published = null;
    int times = 0;
    long publishAt = call.ticker().nanos();
    try {
      for (long pause = SHORTEST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
        boolean kept = keepsMessage(call, second);
        if (second.isActive()) {
          requireOver(call, active, second);
        }
        if (second.isGone()) {
          active.gone(second.loss());
        }
        if (active.isGone()) {
          return false;
        }
        if (kept) {
          return true;
        }
        if (call.ticker().nanos() - publishAt >= 0) {
          published = queues.publish(call, active.queue());
          times++;
          publishAt = call.ticker().nanos() + ActiveConsumerVerification.SOON.toNanos();
        }
        requirePublishing(call, active.queue(), published);
        boolean unused = second.await(Math.min(pause, call.remainingNanos()));
      }
    } catch (LockException.Unanswered e) {
      throw times < MANY ? e : keptNone(call, active.queue(), times);
    }
  }

  /**
   * Whether the queue has a message that it does not send to the second consumer. It is looked at
   * twice, as before a lease is declared lost.
   */
  private boolean keepsMessage(Call call, ActiveConsumer second) {
    for (int i = 0; i < 2; i++) {
      QueueState state = inspection.look(call, second);
      if (state == null || state.messages() == 0 || second.isActive()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Both consumers have a message. That is right only if the broker has ended the first one, which
   * it may not say. So both end, and it is an error if it happens again.
   */
  private void requireOver(Call call, ActiveConsumer active, ActiveConsumer second) {
    QueueState unused = inspection.look(call, active);
    if (active.isGone()) {
      return;
    }
    LossReason why =
        new LossReason(
            Cause.REVOKED, "queue %s serves several consumers".formatted(active.queue()));
    active.gone(why);
    second.gone(why);
    if (!queues.suspect(active.queue())) {
      return;
    }
    throw queues.foreign(
        call,
        active.queue(),
        "it serves several consumers at a time, which a classic queue with x-single-active-consumer"
            + " does not");
  }

  private void requirePublishing(Call call, String queue, @Nullable Channel published) {
    if (queues.isBlocked()) {
      throw queues.publishersBlocked(call);
    }
    ShutdownSignalException refused = published == null ? null : published.getCloseReason();
    if (refused != null) {
      throw BrokerErrors.calling(call, "publish to queue " + queue, refused);
    }
    if (call.remainingNanos() == 0) {
      throw call.unanswered("find out whom queue %s serves".formatted(queue));
    }
  }

  private static LockException keptNone(Call call, String queue, int published) {
    return new LockException.Unanswered(
        "Queue %s of %s kept none of %d messages that were published to it, and it is used only if it"
                .formatted(queue, call.lock(), published)
            + " does; see whether a policy such as message-ttl applies to it, or RabbitMQ is busy");
  }
}
