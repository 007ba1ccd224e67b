package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.MetricsCollector;
import com.rabbitmq.client.NoOpMetricsCollector;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that carries at most one consumer or message at a time. It carries no more than one
 * because a refusal (403, 404) closes the channel and would end all others.
 *
 * <p>Concurrency: a user that got the channel from the pool has it alone, except for requests of
 * others about what it carries. Its {@link BorrowedChannel}s are counted, and each request has one
 * until it is answered. So the channel is idle again only when the last loan has ended and no reply
 * is under way. The client's threads report here. They find what is carried in one volatile field,
 * and identify it by its consumer's tag, which is unique. So a late notification about the last
 * consumer does not reach the next one. A message without a recipient goes back at once.
 */
public final class ConsumerChannel extends DefaultConsumer {

  private static final Sending NOTHING = () -> {};

  private static final Logger log = LoggerFactory.getLogger(ConsumerChannel.class);

  /**
   * Tells a channel of each message before the client passes the message to the thread that
   * delivers it. It does so on the thread that also receives replies. So a caller that has received
   * a reply knows whether a message arrived before it.
   */
  public static final MetricsCollector ARRIVALS =
      new NoOpMetricsCollector() {
        @Override
        public void consumedMessage(Channel channel, long tag, String consumer) {
          if (channel.getDefaultConsumer() instanceof ConsumerChannel to) {
            to.underWay.incrementAndGet();
          }
        }
      };

  private final AtomicInteger underWay = new AtomicInteger();
  private final AtomicInteger users = new AtomicInteger();
  private volatile @Nullable ChannelListener listener;
  private volatile boolean wornOut;
  private volatile boolean closedAtOnce;

  /** Guards the next five. No monitor, for a write that waits would pin a virtual thread. */
  private final ReentrantLock requests = new ReentrantLock();

  private boolean owesAnswer;

  /** The tag of a consumer that the broker has not confirmed yet, or empty. */
  private String unconfirmed = "";

  /** Whether that consumer was there before, so that its messages confirm nothing. */
  private boolean begunAgain;

  /** The tag of a consumer to be cancelled as soon as it is confirmed, or empty. */
  private String cancelledEarly = "";

  /** What is sent behind that cancel. */
  private Sending behindIt = NOTHING;

  ConsumerChannel(Channel channel) {
    super(channel);
    // The requests are asynchronous, so the client has no other way to find our consumers.
    channel.setDefaultConsumer(this);
    channel.addShutdownListener(this::closed);
  }

  /** Gives the channel its first user. */
  ConsumerChannel borrow() {
    users.set(1);
    return this;
  }

  /** Adds a user; false if the last one has gone. */
  boolean share() {
    return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
  }

  /** Removes a user; true if that was the last one. */
  boolean leave() {
    return users.decrementAndGet() == 0;
  }

  /**
   * Marks the channel as owing the reply to a request; false if it owes one already. A second
   * request in the meantime would wait in the client without any bound.
   */
  boolean asks(Method request) {
    requests.lock();
    try {
      if (owesAnswer) {
        return false;
      }
      owesAnswer = true;
      unconfirmed = request instanceof Basic.Consume consume ? consume.getConsumerTag() : "";
      begunAgain = false;
      return true;
    } finally {
      requests.unlock();
    }
  }

  /** The reply has arrived, or never will. */
  void answered() {
    Sending late;
    requests.lock();
    try {
      owesAnswer = false;
      late = takePostponed();
    } finally {
      requests.unlock();
    }
    try {
      late.send();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A consumer ended with its channel: {}", e.getMessage());
    }
  }

  /**
   * Cancels its consumer, if there is one, without waiting for the broker's confirmation. A
   * consumer that the broker has not confirmed yet is cancelled as soon as it is: a broker up to
   * 4.0 may close the whole connection otherwise (trap 18).
   */
  void cancel(String tag) throws IOException {
    cancel(tag, NOTHING);
  }

  /**
   * As {@link #cancel(String)}, and sends something behind the cancel. Without a consumer it sends
   * that only.
   */
  void cancel(String tag, Sending next) throws IOException {
    requests.lock();
    try {
      if (!tag.isEmpty() && tag.equals(unconfirmed)) {
        cancelledEarly = tag;
        behindIt = next;
        return;
      }
      if (!tag.isEmpty()) {
        // In here, or the consume could come in between.
        getChannel().asyncRpc(new Basic.Cancel.Builder().consumerTag(tag).nowait().build());
      }
    } finally {
      requests.unlock();
    }
    next.send();
  }

  /**
   * Ends the consumer that the request, which owes its reply by now, begins again. It is not
   * postponed, as {@link #cancel} would be: the broker has confirmed that consumer long ago. A
   * cancel from now on is postponed until the broker has confirmed the next one.
   *
   * @return false if that is not wanted any more, and nothing was sent
   */
  boolean endBefore(Basic.Consume again, BooleanSupplier wanted) throws IOException {
    requests.lock();
    try {
      if (!wanted.getAsBoolean()) {
        return false;
      }
      begunAgain = true;
      getChannel()
          .asyncRpc(
              new Basic.Cancel.Builder().consumerTag(again.getConsumerTag()).nowait().build());
      return true;
    } finally {
      requests.unlock();
    }
  }

  /**
   * A message for a consumer proves that the broker has confirmed it. A postponed cancel goes
   * first, or the message would come again when it is given back.
   */
  private void confirmed(String tag) throws IOException {
    Sending late = NOTHING;
    requests.lock();
    try {
      if (!begunAgain && tag.equals(unconfirmed)) {
        late = takePostponed();
      }
    } finally {
      requests.unlock();
    }
    late.send();
  }

  /** The consumer is confirmed, or never will be; guarded by the lock. */
  private Sending takePostponed() {
    unconfirmed = "";
    String late = cancelledEarly;
    Sending next = behindIt;
    cancelledEarly = "";
    behindIt = NOTHING;
    return () -> cancel(late, next);
  }

  /** Sends something by this channel, and does not wait for a reply. */
  @FunctionalInterface
  public interface Sending {
    void send() throws IOException;
  }

  /** Marks the channel as not to be used again. */
  void wearOut() {
    wornOut = true;
  }

  boolean isWornOut() {
    return wornOut;
  }

  /** Records that nothing need be answered before it may be closed. */
  void closeAtOnce() {
    closedAtOnce = true;
  }

  boolean isClosedAtOnce() {
    return closedAtOnce;
  }

  boolean isOpen() {
    return getChannel().isOpen();
  }

  /**
   * Whether a message for a consumer of this channel has arrived in this process, and was not
   * delivered yet.
   */
  boolean isReceiving() {
    return underWay.get() > 0;
  }

  /** Sets who is notified from now on. Until then the last one is notified. */
  void listen(ChannelListener next) {
    listener = next;
  }

  @Override
  public void handleCancel(String tag) {
    ChannelListener told = listener;
    if (told != null && told.tag().equals(tag)) {
      told.cancelled();
    }
  }

  @Override
  public void handleDelivery(
      String tag, Envelope envelope, BasicProperties properties, byte[] body) {
    try {
      confirmed(tag);
      Delivery delivery = Delivery.of(getChannel(), envelope.getDeliveryTag(), properties, body);
      ChannelListener told = listener;
      if (told != null && told.tag().equals(tag)) {
        told.delivered(delivery);
      } else {
        delivery.putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A message was not answered, its channel is gone: {}", e.getMessage());
    } finally {
      underWay.decrementAndGet();
    }
  }

  private void closed(ShutdownSignalException cause) {
    ChannelListener told = listener;
    if (told != null) {
      told.closed(cause);
    }
  }
}
