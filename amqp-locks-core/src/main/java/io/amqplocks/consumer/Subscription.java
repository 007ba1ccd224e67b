package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import io.amqplocks.leader.Leadership;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer on a channel, and what the broker has sent to it ahead.
 *
 * <p>From RabbitMQ 4.0 on, messages go back by {@code basic.nack}. When a channel is closed with
 * messages on it, a quorum queue counts a failed delivery of each, and drops it at its limit,
 * though nobody has handled it. Before 4.0 such a queue has no limit by default, and puts messages
 * that are nacked to its end. There they go back when the channel is closed, and the next consumer
 * may get later ones first.
 *
 * <p>Concurrency: the client's threads put deliveries into the buffer. The worker takes them out to
 * handle them, and the thread that ends the subscription takes them out to give them back. So each
 * delivery is either handled or given back.
 */
final class Subscription {

  private static final Logger log = LoggerFactory.getLogger(Subscription.class);

  /** Has the worker look whether the term is over. */
  private static final Object WAKE_UP = new Object();

  private final Channel channel;
  private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final boolean nacks;
  private final String tag;

  /** Consumes exclusively: on a classic queue the broker refuses others. */
  Subscription(Channel channel, String queue, Leadership term) throws IOException {
    this.channel = channel;
    nacks = major(channel.getConnection().getServerProperties().get("version")) >= 4;
    tag =
        channel.basicConsume(
            queue,
            false,
            "",
            false,
            true,
            Map.of(),
            (consumer, message) -> received.add(new Delivery(term, message)),
            consumer -> received.add("the broker cancelled the consumer"),
            (consumer, signal) -> received.add(String.valueOf(signal.getMessage())));
  }

  private static int major(@Nullable Object version) {
    String text = String.valueOf(version);
    int dot = text.indexOf('.');
    return dot < 1 || !text.substring(0, dot).matches("[0-9]{1,6}")
        ? 0
        : Integer.parseInt(text.substring(0, dot));
  }

  /**
   * The next message; null if none came within that time.
   *
   * @throws IOException if the broker sends no more
   */
  @Nullable Delivery next(long millis) throws IOException {
    Object next = null;
    try {
      next = received.poll(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // Nobody but a handler interrupts this thread, and what is to stop it is the term.
    }
    if (next instanceof Delivery delivery) {
      return delivery;
    }
    if (next != null && !WAKE_UP.equals(next)) {
      throw new IOException(next.toString());
    }
    return null;
  }

  /** Tells the broker that a message was handled, or rejected. */
  void settle(Delivery delivery) throws IOException {
    if (delivery.isRejected()) {
      channel.basicReject(delivery.tag(), false);
    } else {
      channel.basicAck(delivery.tag(), false);
    }
  }

  /** Puts a message back to its place in the queue, now or when this is closed. */
  void giveBack(Delivery delivery) throws IOException {
    if (nacks) {
      channel.basicNack(delivery.tag(), false, true);
    }
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  /**
   * Has the broker send no more, and gives back what is in the buffer. Another consumer may begin
   * then. What the worker has in hand stays with it.
   */
  void end() {
    try {
      if (ended.compareAndSet(false, true)) {
        channel.basicCancel(tag);
      }
      for (Object next = received.poll(); next != null; next = received.poll()) {
        if (next instanceof Delivery delivery) {
          giveBack(delivery);
        }
      }
    } catch (IOException | RuntimeException e) {
      log.debug("The broker takes back by itself what was sent ahead", e);
    }
    received.add(WAKE_UP);
  }

  /** Returns when the broker has processed all acknowledgements before it. */
  void close() throws IOException, TimeoutException {
    end();
    channel.close();
  }
}
