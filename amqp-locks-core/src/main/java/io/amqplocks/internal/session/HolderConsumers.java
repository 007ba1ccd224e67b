package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.HolderConnection.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
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
 * <p>Concurrency: a consumer has a channel to itself, lent from the request to the answer of the last
 * one on it, however late that comes. So a late answer is never taken for the next one's (trap 6), no
 * channel is closed from this side (the client would give its number away while answers are still
 * under way), and what came about late is cancelled by whoever hears of it. A semaphore bounds how many
 * are lent.
 */
public final class HolderConsumers {

  private static final Logger log = LoggerFactory.getLogger(HolderConsumers.class);

  private static final Method ONE_AT_A_TIME = new Basic.Qos.Builder().prefetchCount(1).build();

  /** What a broker allows by default, where it sets no bound of its own. */
  private static final int USUAL_CHANNELS = 2047;

  /** Of how many queues to remember that they were proven; to prove one again takes a millisecond. */
  private static final int MOST_REMEMBERED = 10_000;

  private final Connection connection;
  private final HolderConnection holder;
  private final Executor background;
  private final int most;
  private final Semaphore lendable;
  private final Deque<ConsumerChannel> idle = new ConcurrentLinkedDeque<>();
  private final AtomicLong lastTag = new AtomicLong();
  private final Set<String> exclusive = ConcurrentHashMap.newKeySet();

  HolderConsumers(Connection connection, HolderConnection holder, Executor background) {
    this.connection = connection;
    this.holder = holder;
    this.background = background;
    int channels = connection.getChannelMax();
    // The rest is left to all other calls, for releases above all.
    most = Math.max(1, (channels == 0 ? USUAL_CHANNELS : channels) / 4 * 3);
    lendable = new Semaphore(most);
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
            LateAnswer.IGNORED,
            reply -> count.set(((DeclareOk) reply.getMethod()).getConsumerCount()));
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
    Optional<HeldConsumer> taken = consume(call, queue);
    if (taken.isEmpty() || exclusive.contains(queue)) {
      return taken;
    }
    boolean proven = false;
    try {
      proven = refusesAnother(call, queue) && !taken.get().isGone();
    } finally {
      if (!proven) {
        release(call, taken.get());
      }
    }
    if (!proven) {
      return Optional.empty();
    }
    if (exclusive.size() >= MOST_REMEMBERED) {
      exclusive.clear();
    }
    exclusive.add(queue);
    return taken;
  }

  /** Whether the queue, which we consume, refuses a second consumer; false if it is another by now. */
  private boolean refusesAnother(Call call, String queue) {
    Optional<HeldConsumer> second = consume(call, queue);
    if (second.isEmpty()) {
      return true;
    }
    try {
      if (count(call, queue).orElse(0) > 1) {
        throw notExclusive(call, queue);
      }
      // It was deleted and declared anew under the first one.
      return false;
    } finally {
      release(call, second.get());
    }
  }

  private static LockException notExclusive(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: it is not a shared classic queue, which alone refuse a second"
                .formatted(queue, call.lock())
            + " exclusive consumer; delete it and enable the lock anew");
  }

  private Optional<HeldConsumer> consume(Call call, String queue) {
    String step = "consume from queue " + queue;
    ConsumerChannel channel = lend(call, step);
    HeldConsumer consumer = new HeldConsumer(queue, "hold-" + lastTag.incrementAndGet(), channel);
    channel.carry(consumer);
    Method consume =
        new Basic.Consume.Builder().queue(queue).consumerTag(consumer.tag()).exclusive().build();
    Answer answer = ask(call, step, channel, consume, late -> undo(call, consumer, late));
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    if (answer == Answer.OK) {
      return Optional.of(consumer);
    }
    giveBack(channel);
    return Optional.empty();
  }

  /** The consume that nobody waits for any more was answered after all. */
  private void undo(Call call, HeldConsumer consumer, Answer late) {
    if (late != Answer.OK) {
      giveBack(consumer.channel());
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
    ConsumerChannel channel = consumer.channel();
    try {
      Basic.Cancel cancel = new Basic.Cancel.Builder().consumerTag(consumer.tag()).build();
      Answer answer = ask(call, step, channel, cancel, late -> giveBack(channel));
      if (answer == Answer.NONE) {
        log.warn("{}: {}; it will when it can", call.lock(), call.unanswered(step).getMessage());
      } else {
        giveBack(channel);
      }
    } catch (LockException e) {
      // The channel or the connection is gone, and the consumer with it.
      log.debug("{}: released with its channel: {}", call.lock(), e.getMessage());
    }
  }

  /** Asks on a lent channel; if that fails, the channel is gone. */
  private Answer ask(
      Call call, String step, ConsumerChannel channel, Method method, LateAnswer late) {
    boolean failed = true;
    try {
      Answer answer = channel.ask(call, step, method, late);
      failed = false;
      return answer;
    } finally {
      if (failed) {
        giveBack(channel);
      }
    }
  }

  private ConsumerChannel lend(Call call, String step) {
    if (!lendable.tryAcquire()) {
      throw new LockException.Unanswered(
          "Cannot %s for %s now: %d channels of the connection carry a held lock each, and no more may"
                  .formatted(step, call.lock(), most)
              + "; release some, raise the broker's channel_max, or use a second AmqpLocks");
    }
    for (ConsumerChannel each = idle.poll(); each != null; each = idle.poll()) {
      if (each.isOpen()) {
        return each;
      }
    }
    return open(call, step);
  }

  private ConsumerChannel open(Call call, String step) {
    ConsumerChannel opened = null;
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw call.noChannel(step);
      }
      opened = new ConsumerChannel(channel, background);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (opened == null) {
        lendable.release();
      }
    }
    ConsumerChannel channel = opened;
    if (ask(call, step, channel, ONE_AT_A_TIME, late -> giveBack(channel)) == Answer.NONE) {
      throw call.unanswered(step);
    }
    return channel;
  }

  private void giveBack(ConsumerChannel channel) {
    channel.carry(null);
    if (channel.isOpen()) {
      idle.push(channel);
    }
    lendable.release();
  }
}
