package io.amqplocks.internal.tokens.admin;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.AdminConnection;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages of one queue that an administrator has taken. They are not acknowledged, and hidden from
 * everybody else. Messages that are not removed for good go back when this is closed, or when
 * its connection ends.
 *
 * <p>The broker may put messages back by itself, and send them once more: a quorum queue up to 4.2
 * when its nodes lose each other for a moment, a classic queue when its process dies. A quorum
 * queue says nothing of it. A classic queue ends a consumer, and from then on all calls fail. It
 * says nothing to those who take messages one by one. So of two messages that say the same, one may
 * not be there. {@link #again} shows whether both are.
 *
 * <p>The file is above 300 lines because what is in hand, on which channel, is one state.
 *
 * <p>Concurrency: for one thread. Deliveries arrive on a thread of the client library, which only
 * puts them into a queue for that thread.
 */
public final class UnackedMessages implements AutoCloseable {

  /** Above the priorities of users. */
  private static final int PRIORITY = 1000;

  /**
   * The highest prefetch count of {@code basic.qos}. Its 0, "no limit", is 2,000 on quorum queues.
   */
  private static final int MOST_IN_HAND = 65_535;

  private static final Message END = new Message(0, "", 0);

  /**
   * The most messages to remove at once. With more than 32 acknowledgements that the log has not
   * confirmed yet, a channel of RabbitMQ holds further ones back, and a get overtakes them.
   */
  public static final int MOST_REMOVED = 30;

  private static final Logger log = LoggerFactory.getLogger(UnackedMessages.class);

  /** How long {@link #again} waits for one more message. */
  private static final long QUIET_NANOS = 2_000_000_000;

  private final TokenAdminConnection connection;
  private final String queue;
  private final TokenQueueType type;
  private final Map<Long, Message> held = new LinkedHashMap<>();
  private final Set<Long> asked = new HashSet<>();
  private Channel channel;
  private Receiver receiver;
  private @Nullable String consumer;
  private int most;

  /** Whether a late reply is still to come on the channel, which then ends with its connection. */
  private boolean owed;

  /**
   * A message.
   *
   * @param tag its delivery tag
   * @param text its text
   * @param returns how often it was taken and put back before; 0 if the queue does not count that
   */
  public record Message(long tag, String text, long returns) {

    private static Message of(Delivery delivery) {
      return new Message(delivery.tag(), delivery.content(), delivery.returns());
    }
  }

  UnackedMessages(
      TokenAdminConnection connection, Channel channel, String queue, TokenQueueType type) {
    this.connection = connection;
    this.channel = channel;
    this.queue = queue;
    this.type = type;
    receiver = new Receiver(channel);
  }

  /**
   * Takes the ready messages of the queue, one by one.
   *
   * @param most the highest number to take
   * @return the messages taken now, without earlier ones
   * @throws LockException.NotFound if there is no such queue
   */
  public List<Message> take(Call call, int most) {
    List<Message> taken = new ArrayList<>();
    Get get = new Get.Builder().queue(queue).build();
    try {
      while (taken.size() < most) {
        Command reply = AdminConnection.rpc(call, channel, get);
        Delivery got = Delivery.got(channel, reply);
        if (got == null) {
          break;
        }
        Message message = Message.of(got);
        held.put(message.tag(), message);
        asked.add(message.tag());
        taken.add(message);
      }
      return taken;
    } catch (ExecutionException e) {
      if (BrokerErrors.expected(e) == Answer.ABSENT) {
        throw absent(call);
      }
      throw failed(call, e);
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw failed(call, e);
    }
  }

  /**
   * Removes the messages for good, at most {@link #MOST_REMOVED}. Returns when the broker has done
   * so.
   */
  public void remove(Call call, Collection<Message> messages) {
    // In another order the broker would search its list of messages for each one.
    List<Long> tags =
        messages.stream().map(Message::tag).filter(held::containsKey).sorted().toList();
    if (tags.isEmpty()) {
      return;
    }
    requireNotEnded(call);
    try {
      for (long tag : tags) {
        channel.basicAck(tag, false);
        held.remove(tag);
        asked.remove(tag);
      }
      // A quorum queue's log has the acknowledgements before this get, and replies when it has the
      // get.
      Get get = new Get.Builder().queue(queue).build();
      if (AdminConnection.rpc(call, channel, get).getMethod() instanceof GetOk got) {
        channel.basicNack(got.getDeliveryTag(), false, true);
      }
    } catch (ExecutionException e) {
      if (BrokerErrors.expected(e) != Answer.ABSENT) {
        throw failed(call, e);
      }
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw failed(call, e);
    }
  }

  /**
   * Begins to receive messages that come back to the queue, ahead of all waiters.
   *
   * @param most the highest number of these at a time; 0 for any number
   */
  public void receive(Call call, int most) {
    this.most = most;
    consumer = consume(call, channel, receiver);
  }

  /** Returns the consumer's tag, which the receiver may be told of later. */
  private String consume(Call call, Channel on, Receiver by) {
    Map<String, Object> arguments =
        connection.broker().consume(PRIORITY, type == TokenQueueType.CLASSIC);
    try {
      on.basicQos(most == 0 ? MOST_IN_HAND : most);
      return on.basicConsume(queue, false, arguments, by);
    } catch (IOException | ShutdownSignalException e) {
      if (BrokerErrors.expected(e) == Answer.ABSENT) {
        throw absent(call);
      }
      throw failed(call, e);
    }
  }

  /**
   * The next message received.
   *
   * @return empty if none arrived within the given time
   * @throws LockException.NotFound if the queue was deleted, or a classic queue's process died
   * @throws LockException.Unreachable if the connection broke
   * @throws LockException.Interrupted if the thread is interrupted
   */
  public Optional<Message> next(Call call, long nanos) {
    try {
      Message message = receiver.received.poll(nanos, TimeUnit.NANOSECONDS);
      if (message == null) {
        return Optional.empty();
      }
      if (message.equals(END)) {
        receiver.received.add(END);
        throw ended(call);
      }
      held.put(message.tag(), message);
      return Optional.of(message);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for tokens of " + call.lock());
    }
  }

  /**
   * The number of consumers that a quorum queue counts for these messages. It counts each message
   * taken by a get as one.
   */
  public int consumers() {
    return asked.size() + (consumer == null ? 0 : 1);
  }

  /**
   * All messages that were received and not removed.
   *
   * @throws LockException as {@link #next} does
   */
  public List<Message> all(Call call) {
    while (next(call, 0).isPresent()) {
      // It is held now.
    }
    return List.copyOf(held.values());
  }

  /**
   * Puts back all messages, and receives them again on another channel, before clients that wait. A
   * message that the broker had sent twice comes once. One may be missing if the broker is slow, or
   * if somebody else has it by now.
   *
   * @return all messages that are here now
   */
  public List<Message> again(Call call) {
    int before = all(call).size();
    Channel next = connection.channelToTake(call, queue);
    Receiver receiving = new Receiver(next);
    String tag = consume(call, next, receiving);
    close();
    held.clear();
    asked.clear();
    channel = next;
    receiver = receiving;
    consumer = tag;
    while (held.size() < before
        && next(call, Math.min(QUIET_NANOS, call.remainingNanos())).isPresent()) {
      // It is held now.
    }
    return all(call);
  }

  private void requireNotEnded(Call call) {
    if (receiver.ended) {
      throw ended(call);
    }
  }

  private LockException ended(Call call) {
    ShutdownSignalException signal = receiver.broken;
    return signal != null
        ? failed(call, signal)
        : new LockException.NotFound(
            "The queue %s of %s was deleted, or its process has died; try again"
                .formatted(queue, call.lock()));
  }

  /** Passes deliveries to the thread that uses this. */
  private static final class Receiver extends DefaultConsumer {

    private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();
    private volatile @Nullable ShutdownSignalException broken;
    private volatile boolean ended;

    Receiver(Channel channel) {
      super(channel);
    }

    @Override
    public void handleDelivery(
        String tag, Envelope envelope, BasicProperties properties, byte[] body) {
      received.add(
          Message.of(Delivery.of(getChannel(), envelope.getDeliveryTag(), properties, body)));
    }

    @Override
    public void handleCancel(String tag) {
      ended = true;
      received.add(END);
    }

    @Override
    public void handleShutdownSignal(String tag, ShutdownSignalException signal) {
      broken = signal;
      ended = true;
      received.add(END);
    }
  }

  /**
   * Puts back all messages, including those on their way. It does so by nack, which never counts
   * against a limit from 4.3 on (trap 8). If a classic queue has ended the consumer, the broker has
   * put them back itself. A new process of the queue could take their numbers for those of messages
   * that others have by now (trap 22).
   */
  @Override
  public void close() {
    try {
      if (channel.isOpen()) {
        // While a reply is owed, the client would let the cancel wait for it without any bound, and
        // the close for one more call timeout.
        if (consumer != null && !owed && !receiver.ended) {
          channel.basicCancel(consumer);
        }
        if (type == TokenQueueType.QUORUM || !receiver.ended) {
          channel.basicNack(0, true, true);
        }
        if (!owed) {
          channel.close();
        }
      }
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      // The broker puts them back itself when the connection is closed.
      log.debug("Messages of {} were not put back: {}", queue, BrokerErrors.text(e));
    }
  }

  private LockException absent(Call call) {
    return new LockException.NotFound(
        "There is no queue %s of %s; was it deleted?".formatted(queue, call.lock()));
  }

  private LockException failed(Call call, Exception failure) {
    owed |=
        failure instanceof TimeoutException
            || failure instanceof ChannelContinuationTimeoutException;
    return BrokerErrors.calling(call, "take messages of " + queue, failure);
  }
}
