package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
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
 * Messages of one queue in an administrator's hand: taken, not acknowledged, hidden from everybody else.
 * What is not removed for good goes back when the hand is closed, or when its connection ends.
 *
 * <p>Concurrency: for one thread. Deliveries come on a thread of the client library, which only puts them
 * into a queue for that one.
 */
public final class MessageHand implements AutoCloseable {

  /** Users' priorities stay below. */
  private static final int PRIORITY = 1000;

  /** What {@code basic.qos} can say; 0, "no limit", is 2,000 on quorum queues. */
  private static final int MOST_IN_HAND = 65_535;

  private static final Message END = new Message(0, "");

  /**
   * Of more than 32 that the log has not confirmed yet, a channel of RabbitMQ keeps acknowledgements to
   * itself, and lets a get overtake them.
   */
  public static final int MOST_REMOVED = 30;

  private static final Logger log = LoggerFactory.getLogger(MessageHand.class);

  private final Channel channel;
  private final String queue;
  private final Map<Long, String> held = new LinkedHashMap<>();
  private final Set<Long> asked = new HashSet<>();
  private final BlockingQueue<Message> received = new LinkedBlockingQueue<>();
  private volatile @Nullable ShutdownSignalException broken;
  private @Nullable String consumer;

  /** Whether an answer that came too late is still to come on the channel. */
  private boolean owed;

  /**
   * A message in hand.
   *
   * @param tag what the channel calls it
   * @param text what it says
   */
  public record Message(long tag, String text) {}

  MessageHand(Channel channel, String queue) {
    this.channel = channel;
    this.queue = queue;
  }

  /**
   * Takes what waits in the queue, one by one.
   *
   * @param most how many at most
   * @return those taken now, without those in hand already
   * @throws LockException.NotFound if there is no such queue
   */
  public List<Message> take(Call call, int most) {
    List<Message> taken = new ArrayList<>();
    Get get = new Get.Builder().queue(queue).build();
    try {
      while (taken.size() < most) {
        Command reply = AdministratorConnection.rpc(call, channel, get);
        if (!(reply.getMethod() instanceof GetOk got)) {
          break;
        }
        taken.add(add(got.getDeliveryTag(), reply.getContentBody()));
        asked.add(got.getDeliveryTag());
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

  private Message add(long tag, byte[] body) {
    Message message = new Message(tag, Delivery.text(body));
    held.put(tag, message.text());
    return message;
  }

  /** Removes them for good, at most {@link #MOST_REMOVED}; returns when the broker has done so. */
  public void remove(Call call, Collection<Message> messages) {
    // In another order the broker searches its list of them for each one.
    List<Long> tags =
        messages.stream().map(Message::tag).filter(held::containsKey).sorted().toList();
    if (tags.isEmpty()) {
      return;
    }
    try {
      for (long tag : tags) {
        channel.basicAck(tag, false);
        held.remove(tag);
        asked.remove(tag);
      }
      // A quorum queue's log has the acknowledgements before this, and answers when it has this.
      Get get = new Get.Builder().queue(queue).build();
      if (AdministratorConnection.rpc(call, channel, get).getMethod() instanceof GetOk got) {
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
   * Begins to receive what comes back to the queue, ahead of all others who wait there.
   *
   * @param most how many may be in hand in this way at a time; 0 for any number
   */
  public void receive(Call call, int most) {
    try {
      channel.basicQos(most == 0 ? MOST_IN_HAND : most);
      consumer =
          channel.basicConsume(queue, false, Map.of("x-priority", PRIORITY), new Receiver(channel));
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
   * @return empty if none came within that time
   * @throws LockException.NotFound if the queue was deleted
   * @throws LockException.Unreachable if the connection broke
   * @throws LockException.Interrupted if the thread is interrupted
   */
  public Optional<Message> next(Call call, long nanos) {
    try {
      Message message = received.poll(nanos, TimeUnit.NANOSECONDS);
      if (message == null) {
        return Optional.empty();
      }
      if (message.equals(END)) {
        received.add(END);
        ShutdownSignalException signal = broken;
        throw signal == null ? absent(call) : failed(call, signal);
      }
      held.put(message.tag(), message.text());
      return Optional.of(message);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for tokens of " + call.lock());
    }
  }

  /** How many consumers this is to a quorum queue, which takes each message that was asked for as one. */
  public int consumers() {
    return asked.size() + (consumer == null ? 0 : 1);
  }

  /** All messages in hand. */
  public List<Message> all() {
    for (Message message = received.peek();
        message != null && !message.equals(END);
        message = received.peek()) {
      received.remove();
      held.put(message.tag(), message.text());
    }
    return held.entrySet().stream()
        .map(each -> new Message(each.getKey(), each.getValue()))
        .toList();
  }

  /** Hands deliveries over to the thread that this hand is of. */
  private final class Receiver extends DefaultConsumer {

    Receiver(Channel channel) {
      super(channel);
    }

    @Override
    public void handleDelivery(
        String tag, Envelope envelope, BasicProperties properties, byte[] body) {
      received.add(new Message(envelope.getDeliveryTag(), Delivery.text(body)));
    }

    @Override
    public void handleCancel(String tag) {
      received.add(END);
    }

    @Override
    public void handleShutdownSignal(String tag, ShutdownSignalException signal) {
      broken = signal;
      received.add(END);
    }
  }

  /**
   * Puts back what is still in hand, also what is on its way; by nack, which never counts against a limit
   * from 4.3 on (trap 8).
   */
  @Override
  public void close() {
    try {
      if (channel.isOpen()) {
        // While an answer is owed, the client would let this wait for it without any bound.
        if (consumer != null && !owed && !received.contains(END)) {
          channel.basicCancel(consumer);
        }
        channel.basicNack(0, true, true);
        channel.close();
      }
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      // When its connection is closed, or is closed already, the broker puts them back by itself.
      log.debug("A hand of {} was not emptied: {}", queue, BrokerErrors.text(e));
    }
  }

  private LockException absent(Call call) {
    return new LockException.NotFound(
        "There is no queue %s of %s; was it deleted?".formatted(queue, call.lock()));
  }

  private LockException failed(Call call, Exception failure) {
    owed |= failure instanceof TimeoutException;
    return BrokerErrors.calling(call, "take messages of " + queue, failure);
  }
}
