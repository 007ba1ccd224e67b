package io.amqplocks.internal.mutex;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a mutex's queue says of one consumer, and a new message for a queue that has none.
 *
 * @param channels the channels of the consumers
 * @param queues declares the queues, and publishes to them
 * @param areUnacknowledgedCounted whether the messages of a queue include those that a consumer
 *     has. Qpid counts them, and may also reply to a look before it sends what the queue had. So a
 *     queue with a message and a consumer proves nothing at once.
 */
record ActiveConsumerInspection(
    ConsumerChannelPool channels, MutexQueues queues, boolean areUnacknowledgedCounted) {

  private static final Logger log = LoggerFactory.getLogger(ActiveConsumerInspection.class);

  /** The time between two looks whether the broker refused a message. */
  private static final long REFUSAL = Duration.ofMillis(10).toNanos();

  /** The time between two looks whether the client has handed a message on. */
  private static final long HANDING_ON = Duration.ofNanos(50_000).toNanos();

  /** Its reply comes behind all that the channel was asked for before. */
  static final Method NO_CHANGE = new Basic.Qos.Builder().prefetchCount(1).build();

  /**
   * Finds out whether the consumer was sent a message. A queue that has none gets one: it was
   * purged, or the broker was restarted. If there is no other consumer, waits for that message.
   *
   * @throws LockException.Unanswered if the broker did not reply in time; if there are others, only
   *     if the queue did not
   * @throws LockException.Conflict if the queue is none of a mutex
   */
  void tend(Call call, ActiveConsumer consumer) {
    QueueState state = look(call, consumer);
    if (state == null || consumer.isActive() || isForgotten(call, consumer, state)) {
      return;
    }
    if (state.messages() > 0) {
      return;
    }
    if (state.consumers() == 1) {
      boolean unused = queues.requireItsKind(call, consumer.queue());
      publishAndWait(call, consumer);
    } else {
      addSurplus(call.half(), consumer);
    }
  }

  /**
   * Publishes a message for the case that no consumer has one. Most likely another one holds, and
   * the surplus harms nobody. It takes connections that hold nothing, and may have to be opened
   * first. That they cannot be had now is no reason to give up the place in the line: meanwhile the
   * message of the holder may have come.
   */
  private void addSurplus(Call call, ActiveConsumer consumer) {
    String queue = consumer.queue();
    try {
      boolean unused = queues.requireItsKind(call, queue);
      if (!queues.isBlocked()) {
        queues.publish(call, queue);
      }
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      if (!consumer.channel().getChannel().isOpen()) {
        throw e;
      }
      log.info("No message is added to queue {} now, which has none: {}", queue, e.getMessage());
    }
  }

  /**
   * Whether the queue does not know the consumer: it has none, or sends the only one no message
   * though it has one. The broker may have ended the consumer without telling.
   */
  private boolean isForgotten(Call call, ActiveConsumer consumer, QueueState state) {
    boolean forgotten = state.consumers() == 0 || (state.consumers() == 1 && state.messages() > 0);
    if (forgotten && areUnacknowledgedCounted) {
      long soon = ActiveConsumerVerification.SOON.toNanos();
      forgotten = !consumer.await(Math.min(soon, call.remainingNanos()));
    }
    if (forgotten) {
      consumer.gone(
          new LossReason(
              Cause.REVOKED, "queue %s has no such consumer".formatted(consumer.queue())));
    }
    return forgotten;
  }

  private void publishAndWait(Call call, ActiveConsumer consumer) {
    Channel channel = queues.publish(call, consumer.queue());
    long lookAt = call.ticker().nanos() + ActiveConsumerVerification.SOON.toNanos();
    while (!consumer.await(Math.min(REFUSAL, call.remainingNanos()))) {
      if (queues.isBlocked()) {
        throw queues.publishersBlocked(call);
      }
      ShutdownSignalException refused = channel.getCloseReason();
      if (refused != null) {
        throw BrokerErrors.calling(call, "publish to queue " + consumer.queue(), refused);
      }
      if (call.remainingNanos() == 0) {
        throw call.unanswered("deliver a message of queue " + consumer.queue());
      }
      if (call.ticker().nanos() - lookAt >= 0) {
        QueueState state = look(call, consumer);
        if (consumer.await(0) || state == null || isForgotten(call, consumer, state)) {
          return;
        }
        lookAt = call.ticker().nanos() + ActiveConsumerVerification.SOON.toNanos();
      }
    }
  }

  /**
   * Looks at the queue by the consumer's own channel. When this returns, every message has arrived
   * that the queue had sent to the consumer before it replied. The queue's process replies after it
   * sent the message. The broker's channel may pass the reply on first, but it has the message
   * then, and passes that on before it replies to a second request. The client hands messages to
   * another thread, which the channel knows of. Of Qpid none of this is known.
   *
   * @return null if the queue has gone
   */
  @Nullable QueueState look(Call call, ActiveConsumer consumer) {
    String step = "look at queue " + consumer.queue();
    QueueState.Reader reader = new QueueState.Reader();
    Answer answer;
    try {
      answer =
          channels.ask(
              call, step, consumer.channel(), QueueArguments.passive(consumer.queue()), reader);
      if (answer == Answer.OK) {
        answer = channels.ask(call, step, consumer.channel(), NO_CHANGE, Reading.NOTHING);
      }
    } catch (LockException.Unexpected e) {
      // A queue that is being deleted, or whose process just died, may be said to be down.
      if (!BrokerErrors.isQueueUnavailable(e)) {
        throw e;
      }
      consumer.gone(new LossReason(Cause.REVOKED, BrokerErrors.text(e.getCause())));
      return null;
    }
    while (consumer.channel().isReceiving() && call.remainingNanos() > 0) {
      Futures.pause(HANDING_ON);
    }
    if (answer != Answer.OK) {
      consumer.gone(
          new LossReason(Cause.REVOKED, "queue %s was deleted".formatted(consumer.queue())));
      return null;
    }
    return reader.state(answer);
  }
}
