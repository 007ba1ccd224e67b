package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that carries one consumer or one message at a time, or none. One only, because a refusal
 * (403, 404) closes the channel and would take all others along.
 *
 * <p>Concurrency: whoever has the channel from the pool has it alone, but for questions that others ask
 * about what it carries; its {@link Loan}s are counted, and each question has one until it is answered, so
 * that it is idle again only when the last one has ended and no answer is under way. The client's threads report here; they find what is carried in one volatile field and know
 * it by its consumer's tag, which no two have: what is said late about the last one does not meet the
 * next. A message that came for nobody goes back at once.
 */
final class DeliveryChannel extends DefaultConsumer {

  private static final Logger log = LoggerFactory.getLogger(DeliveryChannel.class);

  private final AtomicInteger users = new AtomicInteger();
  private final AtomicBoolean owesAnswer = new AtomicBoolean();
  private volatile @Nullable Carried carried;
  private volatile boolean wornOut;

  DeliveryChannel(Channel channel) {
    super(channel);
    // The requests are asynchronous, so the client knows our consumers by no other way.
    channel.setDefaultConsumer(this);
    channel.addShutdownListener(this::closed);
  }

  /** Has its first user. */
  DeliveryChannel lend() {
    users.set(1);
    return this;
  }

  /** Has one user more; false if the last one has gone. */
  boolean share() {
    return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
  }

  /** Has one user less; true if that was the last. */
  boolean leave() {
    return users.decrementAndGet() == 0;
  }

  /**
   * Whether it may be asked now, and then it owes the answer. The client lets whoever asks meanwhile wait
   * for that, without any bound.
   */
  boolean asks() {
    return owesAnswer.compareAndSet(false, true);
  }

  /** Its answer has come, or never will. */
  void answered() {
    owesAnswer.set(false);
  }

  /** Ends its consumer, if there is one, without waiting for the broker to say so. */
  void cancel(String tag) throws IOException {
    if (!tag.isEmpty()) {
      getChannel().asyncRpc(new Basic.Cancel.Builder().consumerTag(tag).nowait().build());
    }
  }

  /** Must not be used again. */
  void wearOut() {
    wornOut = true;
  }

  boolean isWornOut() {
    return wornOut;
  }

  boolean isOpen() {
    return getChannel().isOpen();
  }

  /** Whom to tell from now on; the last one is told what still comes for it until then. */
  void carry(Carried next) {
    carried = next;
  }

  @Override
  public void handleCancel(String tag) {
    Carried told = carried;
    if (told != null && told.tag().equals(tag)) {
      told.cancelled();
    }
  }

  @Override
  public void handleDelivery(
      String tag, Envelope envelope, BasicProperties properties, byte[] body) {
    try {
      Delivery delivery = Delivery.of(getChannel(), envelope.getDeliveryTag(), properties, body);
      Carried told = carried;
      if (told != null && told.tag().equals(tag)) {
        told.delivered(delivery);
      } else {
        delivery.putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A message was not answered, its channel is gone: {}", e.getMessage());
    }
  }

  private void closed(ShutdownSignalException cause) {
    Carried told = carried;
    if (told != null) {
      told.closed(cause);
    }
  }
}
