package io.amqplocks.internal.consuming;

import com.rabbitmq.client.AMQP.Basic;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumers of one session that hold locks. To consume a classic queue is to hold the lock. The
 * queue's process admits one exclusive consumer or any number of others, of this connection or
 * another, so threads need no registry as they do for exclusive queues.
 *
 * <p>A quorum queue admits any number of exclusive consumers without an error (trap 16). So a
 * caller declares its queue as a classic one before.
 *
 * <p>Concurrency: a consumer has a channel to itself, from its opening to its close, and the user
 * of the channel sends one request at a time. A consumer that comes about too late is cancelled by
 * the thread that learns of it.
 */
public final class HoldingConsumers {

  private static final Logger log = LoggerFactory.getLogger(HoldingConsumers.class);

  private static final PerSession<HoldingConsumers> SESSIONS =
      new PerSession<>(
          session ->
              new HoldingConsumers(
                  session.rpc(), session.consumerChannels(), session.broker().consume(0, true)));

  private static final long SHORTEST_PAUSE = Duration.ofMillis(10).toNanos();
  private static final long LONGEST_PAUSE = Duration.ofMillis(80).toNanos();

  private final RpcChannelPool holder;
  private final ConsumerChannelPool channels;
  private final Map<String, Object> arguments;
  private final AtomicLong lastTag = new AtomicLong();

  /** The consumers of that session. */
  public static HoldingConsumers of(Session session) {
    return SESSIONS.of(session);
  }

  HoldingConsumers(
      RpcChannelPool holder, ConsumerChannelPool channels, Map<String, Object> arguments) {
    this.holder = holder;
    this.channels = channels;
    this.arguments = arguments;
  }

  /**
   * Counts the queue's consumers, without closing the channel of a consumer. While a queue is being
   * deleted, RabbitMQ may reply for a moment that its node is down. So the queue is looked for
   * again, for as long as a deletion takes and no longer: a node that is down stays down.
   *
   * @return empty if there is no such queue
   * @throws LockException.Unanswered if the broker did not reply in time, or at once if the reply
   *     to an earlier request is overdue: many leases may be of one queue, and a queue that hangs
   *     must cost the connection one channel and not all
   */
  public OptionalInt count(Call call, String queue) {
    for (long pause = SHORTEST_PAUSE; pause <= LONGEST_PAUSE; pause *= 2) {
      try {
        return countOnce(call, queue);
      } catch (LockException.Unexpected e) {
        if (!BrokerErrors.isQueueUnavailable(e)) {
          throw e;
        }
        Futures.pause(Math.min(pause, call.remainingNanos()));
      }
    }
    return countOnce(call, queue);
  }

  private OptionalInt countOnce(Call call, String queue) {
    QueueState state = holder.lookUnlessOverdue(call, queue);
    if (!state.exists()) {
      return OptionalInt.empty();
    }
    if (state.answer() == Answer.LOCKED) {
      // The queue is exclusive to another connection, so nobody else can ever consume from it.
      throw notExclusive(call, queue);
    }
    return OptionalInt.of(state.consumers());
  }

  private static LockException notExclusive(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: it is not a shared classic queue, which alone refuse a second"
                .formatted(queue, call.lock())
            + " exclusive consumer; delete it");
  }

  /** Prepares a consumer, which the broker does not know yet, to be given to {@link #consume}. */
  public HoldingConsumer prepare(Call call, String queue) {
    BorrowedChannel channel = channels.borrow(call, "consume from queue " + queue, queue);
    HoldingConsumer consumer =
        new HoldingConsumer(queue, "hold-" + lastTag.incrementAndGet(), channel);
    channel.listen(consumer);
    return consumer;
  }

  /**
   * Consumes the queue. Only a consumer that is answered by OK is to be released.
   *
   * @return OK; LOCKED if other consumers do not admit this one; ABSENT if there is no such queue
   * @throws LockException.Conflict if it is seen to be no classic queue
   * @throws LockException.Unanswered if the broker did not reply in time; the consumer is cancelled
   *     as soon as it does
   */
  public Answer consume(Call call, HoldingConsumer consumer, Access access) {
    String step = "consume from queue " + consumer.queue();
    BorrowedChannel channel = consumer.channel();
    Basic.Consume.Builder consume =
        new Basic.Consume.Builder()
            .queue(consumer.queue())
            .consumerTag(consumer.tag())
            .exclusive(access == Access.EXCLUSIVE)
            .arguments(arguments);
    Answer answer;
    try {
      answer =
          channels.ask(
              call,
              step,
              channel,
              consume.build(),
              Reading.NOTHING,
              late -> undo(call, consumer, late));
    } catch (LockException.Unexpected e) {
      // A quorum queue of 3.x does not know the argument.
      throw BrokerErrors.isOtherwise(e) ? notExclusive(call, consumer.queue()) : e;
    }
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    if (answer != Answer.OK) {
      channels.giveBack(channel);
    }
    return answer;
  }

  /** A late reply to a consume that nobody waits for any more. */
  private void undo(Call call, HoldingConsumer consumer, Answer late) {
    if (late != Answer.OK) {
      channels.giveBack(consumer.channel());
      return;
    }
    log.info("{}: consumer of {} came too late; cancelling", call.lock(), consumer.queue());
    release(Call.on(call.lock(), call.bound(), call.ticker()), consumer);
  }

  /**
   * Cancels the consumer. Never throws. An overdue reply is awaited in the background: closing the
   * channel would wait for the same reply.
   */
  public void release(Call call, HoldingConsumer consumer) {
    String step = "cancel the consumer of queue " + consumer.queue();
    BorrowedChannel channel = consumer.channel();
    try {
      Basic.Cancel cancel = new Basic.Cancel.Builder().consumerTag(consumer.tag()).build();
      Answer answer =
          channels.ask(call, step, channel, cancel, Reading.NOTHING, late -> released(consumer));
      if (answer == Answer.TIMED_OUT) {
        log.warn("{}: {}; it will when it can", call.lock(), call.unanswered(step).getMessage());
      } else {
        released(consumer);
      }
    } catch (LockException e) {
      // The channel or the connection is gone, and the consumer with it.
      log.debug("{}: released with its channel: {}", call.lock(), e.getMessage());
    }
  }

  /**
   * The channel is never used again. If its queue is deleted and declared anew at the moment of the
   * next consume, RabbitMQ 4.3 would not notify it of the end of that consumer (trap 23).
   */
  private void released(HoldingConsumer consumer) {
    channels.discardAnswered(consumer.channel());
  }
}
