package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.HolderConnection.LateAnswer;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel with one exclusive consumer on it, or none. One only, because a refusal (403, 404) closes
 * the channel and would take all other consumers along.
 *
 * <p>What strangers publish to the queue comes here and is dropped. It is acknowledged at once, and the
 * broker sends one at a time: so a flood of messages neither fills this side's buffers, as with
 * automatic acknowledgement, nor runs one into the broker's delivery timeout, which would close the
 * channel.
 *
 * <p>Concurrency: whoever has the channel from the pool has it alone, and asks one thing at a time. The
 * client's threads report here; they find the consumer in one volatile field and tell it by its tag,
 * which no two have, so what is said late about the last one does not meet the next.
 */
final class ConsumerChannel extends DefaultConsumer {

  private static final Logger log = LoggerFactory.getLogger(ConsumerChannel.class);

  private final Channel channel;
  private final Executor background;
  private volatile @Nullable HeldConsumer consumer;

  ConsumerChannel(Channel channel, Executor background) {
    super(channel);
    this.channel = channel;
    this.background = background;
    // The requests are asynchronous, so the client knows our consumers by no other way.
    channel.setDefaultConsumer(this);
    channel.addShutdownListener(this::closed);
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  /** Whom to tell from now on. */
  void carry(@Nullable HeldConsumer next) {
    consumer = next;
  }

  /**
   * Sends one method and waits for its answer within the call's bound.
   *
   * @param late is called in the background if this returns {@link Answer#NONE}, once the answer came
   *     or the channel is gone; the channel must not be used before
   */
  Answer ask(Call call, String step, Method method, LateAnswer late) {
    try {
      CompletableFuture<Command> reply = channel.asyncCompletableRpc(method);
      try {
        Futures.await(reply, call.remainingNanos());
        return Answer.OK;
      } catch (TimeoutException e) {
        var unused =
            reply.whenCompleteAsync((answer, failure) -> late.came(answer(failure)), background);
        return Answer.NONE;
      } catch (ExecutionException e) {
        Answer expected = BrokerErrors.expected(e);
        if (expected == null) {
          throw BrokerErrors.calling(call, step, e);
        }
        return expected;
      }
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  private static Answer answer(@Nullable Throwable failure) {
    Answer answer = failure == null ? Answer.OK : BrokerErrors.expected(failure);
    return answer == null ? Answer.NONE : answer;
  }

  @Override
  public void handleCancel(String tag) {
    HeldConsumer told = consumer;
    if (told != null && told.tag().equals(tag)) {
      told.gone("queue " + told.queue() + " was deleted, or its node went down");
    }
  }

  @Override
  public void handleDelivery(
      String tag, Envelope envelope, BasicProperties properties, byte[] body) {
    try {
      channel.basicAck(envelope.getDeliveryTag(), false);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A message was not acknowledged, its channel is gone: {}", e.getMessage());
    }
  }

  /** With the connection goes the session, and it tells its members by itself. */
  private void closed(ShutdownSignalException cause) {
    HeldConsumer told = consumer;
    if (told != null && !cause.isHardError()) {
      told.gone(
          "RabbitMQ closed the channel that consumed queue %s: %s"
              .formatted(told.queue(), BrokerErrors.text(cause)));
    }
  }
}
