package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Method;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive consumers of one session: to consume a durable classic queue exclusively is to hold
 * the lock. The queue's process admits one consumer, of this connection or another, so threads need no
 * registry as they do for exclusive queues.
 *
 * <p>A quorum queue admits any number without an error (trap 16). So before a queue is first relied on,
 * a second consumer must have been refused: that asks for what counts, needs no permission to declare,
 * and cannot bring back a lock that was disabled meanwhile, as declaring it could. It is proven anew
 * whenever the queue was seen to go, and a holder that finds two consumers at a verification has lost.
 *
 * <p>Concurrency: a consumer has a channel to itself, and who has the channel asks one thing at a time.
 * What came about too late is cancelled by whoever hears of it.
 */
public final class HolderConsumers {

  private static final Logger log = LoggerFactory.getLogger(HolderConsumers.class);

  private final QuestionChannels holder;
  private final DeliveryChannels channels;
  private final AtomicLong lastTag = new AtomicLong();
  private final KnownQueues exclusive = new KnownQueues();

  HolderConsumers(QuestionChannels holder, DeliveryChannels channels) {
    this.holder = holder;
    this.channels = channels;
  }

  /**
   * How many consumers the queue has, asked without breaking a consumer's channel.
   *
   * @return empty if there is no such queue
   * @throws LockException.Unanswered if the broker did not say in time
   */
  public OptionalInt count(Call call, String queue) {
    String step = "look for queue " + queue;
    AtomicInteger count = new AtomicInteger();
    Answer answer =
        holder.ask(
            call,
            step,
            QueueArguments.passive(queue),
            (channel, reply) -> count.set(((DeclareOk) reply.getMethod()).getConsumerCount()),
            LateAnswer.IGNORED);
    return switch (answer) {
      case OK -> OptionalInt.of(count.get());
      case ABSENT -> {
        exclusive.remove(queue);
        yield OptionalInt.empty();
      }
      // Another connection's own queue, which nobody else can ever consume.
      case LOCKED -> throw notExclusive(call, queue);
      case NONE -> throw call.unanswered(step);
    };
  }

  /**
   * Consumes the queue exclusively.
   *
   * @return empty if another does, or the queue has gone
   * @throws LockException.Conflict if the queue admits more than one exclusive consumer
   * @throws LockException.Unanswered if the broker did not say in time; the consumer is then cancelled
   *     as soon as it does
   */
  public Optional<HeldConsumer> take(Call call, String queue) {
    HeldConsumer taken = prepare(call, queue);
    if (consume(call, taken) != Answer.OK) {
      return Optional.empty();
    }
    if (exclusive.contains(queue)) {
      return Optional.of(taken);
    }
    boolean proven = false;
    try {
      proven = refusesAnother(call, taken);
    } finally {
      if (!proven) {
        release(call, taken);
      }
    }
    if (!proven) {
      return Optional.empty();
    }
    exclusive.add(queue);
    return Optional.of(taken);
  }

  /** Whether the queue, which we consume, refuses a second consumer; false if it is another by now. */
  private boolean refusesAnother(Call call, HeldConsumer first) {
    HeldConsumer second = prepare(call, first.queue());
    Answer answer = consume(call, second);
    if (answer != Answer.OK) {
      return answer == Answer.LOCKED;
    }
    try {
      int consumers = count(call, first.queue()).orElse(0);
      first.notAlone(consumers);
      if (consumers > 1) {
        second.notAlone(consumers);
        throw notExclusive(call, first.queue());
      }
      // The first one's queue was deleted and declared anew.
      return false;
    } finally {
      release(call, second);
    }
  }

  private static LockException notExclusive(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: it is not a shared classic queue, which alone refuse a second"
                .formatted(queue, call.lock())
            + " exclusive consumer; delete it and enable the lock anew");
  }

  private HeldConsumer prepare(Call call, String queue) {
    Loan channel = channels.lend(call, "consume from queue " + queue);
    HeldConsumer consumer = new HeldConsumer(queue, "hold-" + lastTag.incrementAndGet(), channel);
    channel.carry(consumer);
    return consumer;
  }

  private Answer consume(Call call, HeldConsumer consumer) {
    String step = "consume from queue " + consumer.queue();
    Loan channel = consumer.channel();
    Method consume =
        new Basic.Consume.Builder()
            .queue(consumer.queue())
            .consumerTag(consumer.tag())
            .exclusive()
            .build();
    Answer answer =
        channels.ask(
            call, step, channel, consume, Reading.NOTHING, late -> undo(call, consumer, late));
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    if (answer != Answer.OK) {
      channels.giveBack(channel);
    }
    if (answer == Answer.ABSENT) {
      exclusive.remove(consumer.queue());
    }
    return answer;
  }

  /** The consume that nobody waits for any more was answered after all. */
  private void undo(Call call, HeldConsumer consumer, Answer late) {
    if (late != Answer.OK) {
      channels.giveBack(consumer.channel());
      return;
    }
    log.info("{}: consumer of {} came too late; cancelling", call.lock(), consumer.queue());
    release(Call.on(call.lock(), call.bound(), call.ticker()), consumer);
  }

  /**
   * Cancels the consumer. Never throws. An answer that is overdue is waited for in the background: a
   * close of the channel would wait behind the very same.
   */
  public void release(Call call, HeldConsumer consumer) {
    if (consumer.isGone()) {
      exclusive.remove(consumer.queue());
    }
    String step = "cancel the consumer of queue " + consumer.queue();
    Loan channel = consumer.channel();
    try {
      Basic.Cancel cancel = new Basic.Cancel.Builder().consumerTag(consumer.tag()).build();
      Answer answer =
          channels.ask(call, step, channel, cancel, Reading.NOTHING, late -> released(consumer));
      if (answer == Answer.NONE) {
        log.warn("{}: {}; it will when it can", call.lock(), call.unanswered(step).getMessage());
      } else {
        released(consumer);
      }
    } catch (LockException e) {
      // The channel or the connection is gone, and the consumer with it.
      log.debug("{}: released with its channel: {}", call.lock(), e.getMessage());
    }
  }

  private void released(HeldConsumer consumer) {
    if (consumer.isGone()) {
      channels.discard(consumer.channel());
    } else {
      channels.giveBack(consumer.channel());
    }
  }
}
