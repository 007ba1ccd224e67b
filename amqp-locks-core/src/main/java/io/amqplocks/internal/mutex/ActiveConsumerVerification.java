package io.amqplocks.internal.mutex;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a consumer is still the active one. Its message is requeued, and the broker sends it,
 * or another one, to the active consumer and to nobody else.
 *
 * @param inspection looks at the queue if no message comes back
 * @param queues gives the queue a message if it lost its own
 * @param channels the channels of the consumers
 * @param rpc other channels
 */
record ActiveConsumerVerification(
    ActiveConsumerInspection inspection,
    MutexQueues queues,
    ConsumerChannelPool channels,
    RpcChannelPool rpc) {

  private static final Logger log = LoggerFactory.getLogger(ActiveConsumerVerification.class);

  /** A message that was requeued comes back within this time, almost always. */
  static final Duration SOON = Duration.ofMillis(100);

  /** Within this time, a busy queue has seen the message that was requeued, almost always. */
  private static final Duration BUSY = Duration.ofSeconds(1);

  /**
   * Whether the consumer is still the active one. A message that an earlier verification requeued
   * may be on its way. It proves nothing of the time since, so it is awaited, and requeued again.
   */
  HoldStatus of(Call call, ActiveConsumer consumer) {
    awaitMessage(call, consumer);
    Delivery message = consumer.requeue();
    if (message == null) {
      return consumer.isGone() ? HoldStatus.GONE : HoldStatus.UNKNOWN;
    }
    long sentAt = channels.nanos();
    try {
      message.putBack();
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "requeue the message of " + consumer.queue(), e);
    }
    awaitMessage(call, consumer);
    if (consumer.isGone()) {
      return HoldStatus.GONE;
    }
    if (!consumer.isActive()) {
      return HoldStatus.UNKNOWN;
    }
    // Whoever only holds makes no other requests, and must not be taken for cut off.
    channels.carriedOut(sentAt);
    return HoldStatus.OURS;
  }

  private void awaitMessage(Call call, ActiveConsumer consumer) {
    if (!consumer.await(Math.min(SOON.toNanos(), call.remainingNanos()))) {
      findOut(call, consumer);
    }
  }

  /** Why no message comes back: another consumer is active, or the queue lost its message. */
  private void findOut(Call call, ActiveConsumer consumer) {
    boolean messageProvesIt = !inspection.areUnacknowledgedCounted();
    if (isPassedOver(call, consumer, messageProvesIt) || consumer.await(0)) {
      return;
    }
    queues.publish(call, consumer.queue());
    if (!consumer.await(call.remainingNanos() / 2)) {
      boolean unused = isPassedOver(call, consumer, true);
    }
  }

  /**
   * Whether the queue has a message that it does not send to this consumer. A busy queue replies to
   * looks before it sees the message that was requeued earlier. So that is awaited for longer, and
   * the queue is looked at again.
   *
   * @param messageProvesIt whether a message in the queue is one that was not sent to this consumer
   */
  private boolean isPassedOver(Call call, ActiveConsumer consumer, boolean messageProvesIt) {
    if (!seemsPassedOver(call, consumer, messageProvesIt)
        || consumer.await(Math.min(BUSY.toNanos(), call.remainingNanos() / 2))
        || !seemsPassedOver(call, consumer, messageProvesIt)) {
      return false;
    }
    consumer.gone(
        new LossReason(
            Cause.REVOKED, "queue %s has another active consumer".formatted(consumer.queue())));
    return true;
  }

  private boolean seemsPassedOver(Call call, ActiveConsumer consumer, boolean messageProvesIt) {
    requireAnswer(call, consumer);
    QueueState state = inspection.look(call, consumer);
    return state != null
        && !consumer.await(0)
        && (state.consumers() == 0 || (messageProvesIt && state.messages() > 0));
  }

  /**
   * Another channel asks first. One that waits for a queue whose node is out of reach is told
   * nothing meanwhile, not even that its consumer has ended (trap 28).
   *
   * @throws LockException.Unanswered if the queue does not answer
   */
  private void requireAnswer(Call call, ActiveConsumer consumer) {
    try {
      QueueState unused = rpc.lookUnlessOverdue(call.half(), consumer.queue());
    } catch (LockException.Unexpected e) {
      log.debug("A look at a mutex failed: {}", e.getMessage());
    }
  }
}
