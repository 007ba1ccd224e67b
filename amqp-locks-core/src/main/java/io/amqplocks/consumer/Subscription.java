package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.leader.Leadership;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What the broker sends to the active consumer on one channel, a message at a time.
 *
 * <p>Messages go back by {@code basic.nack} where {@link BrokerProfile#nackKeepsPlace} says so.
 * When a channel is closed with messages on it, a quorum queue counts a failed delivery of each,
 * and drops it at its limit, though nobody has handled it. Elsewhere they go back when the channel
 * is closed, and the next consumer may get later ones first.
 */
interface Subscription {

  /** Begins to consume as the settings want it. */
  static Subscription begin(
      Channel channel, SoleConsumerBuilder settings, Leadership term, HandledIds handled)
      throws IOException {
    return settings.ingress == null
        ? new QueueSubscription(channel, settings.queue, term)
        : new ActiveQueueSubscription(channel, settings, term, handled);
  }

  /**
   * The next message; null if none came within that time. It is in hand until it is settled or
   * given back, and no other one is taken before.
   *
   * @throws IOException if the broker sends no more
   */
  @Nullable Delivery next(long millis) throws IOException;

  /** Tells the broker that the message in hand was handled, or rejected. */
  void settle(Delivery delivery) throws IOException;

  /** Puts the message in hand back to its place in the queue, now or when this is closed. */
  void giveBack(Delivery delivery) throws IOException;

  /** Whether the broker can be told anything. */
  boolean isOpen();

  /**
   * The connection is about to be dropped: the message in hand goes back to the queue, even if the
   * handler ends before the channel is known to be closed. Any thread may call this.
   */
  void drop();

  /**
   * Has the broker send no more, and gives back what is in the buffer. Another consumer may begin
   * then. What the worker has in hand stays with it. Any thread may call this.
   */
  void end();

  /** Returns when the broker has processed all acknowledgements before it. */
  void close() throws IOException, TimeoutException;
}
