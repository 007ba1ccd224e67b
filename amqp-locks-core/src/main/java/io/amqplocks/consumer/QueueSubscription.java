package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.leader.Leadership;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer on a channel, and what the broker has sent to it ahead.
 *
 * <p>Concurrency: the client's threads put deliveries into the buffer. The worker takes them out to
 * handle them, and the thread that ends the subscription takes them out to give them back. So each
 * delivery is either handled or given back. The channel is closed after the other thread has ended
 * the subscription: a channel that is being closed drops the answers to other calls.
 */
final class QueueSubscription implements Subscription {

  private static final Logger log = LoggerFactory.getLogger(QueueSubscription.class);

  /** Has the worker look whether the term is over. */
  private static final Object WAKE_UP = new Object();

  private final Channel channel;
  private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();

  /** Held while the broker is told to send no more, and the channel is not to be closed. */
  private final ReentrantLock ending = new ReentrantLock();

  private boolean cancelled;
  private boolean closing;
  private final boolean nacks;
  private final String tag;

  /** Consumes exclusively: on a classic queue the broker refuses others. */
  QueueSubscription(Channel channel, String queue, Leadership term) throws IOException {
    this.channel = channel;
    nacks = BrokerProfile.of(channel.getConnection()).nackKeepsPlace();
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

  @Override
  public @Nullable Delivery next(long millis) throws IOException {
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

  @Override
  public void settle(Delivery delivery) throws IOException {
    if (delivery.isRejected()) {
      channel.basicReject(delivery.tag(), false);
    } else {
      channel.basicAck(delivery.tag(), false);
    }
  }

  @Override
  public void giveBack(Delivery delivery) throws IOException {
    if (nacks) {
      channel.basicNack(delivery.tag(), false, true);
    }
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  /** The broker alone knows what was handled. */
  @Override
  public void drop() {}

  @Override
  public void end() {
    ending.lock();
    try {
      if (closing) {
        return;
      }
      if (!cancelled) {
        cancelled = true;
        channel.basicCancel(tag);
      }
      for (Object next = received.poll(); next != null; next = received.poll()) {
        if (next instanceof Delivery delivery) {
          giveBack(delivery);
        }
      }
    } catch (IOException | RuntimeException e) {
      log.debug("The broker takes back by itself what was sent ahead", e);
    } finally {
      ending.unlock();
    }
    received.add(WAKE_UP);
  }

  @Override
  public void close() throws IOException, TimeoutException {
    ending.lock();
    try {
      end();
      closing = true;
      if (nacks) {
        // Also what the broker had sent, and the client's thread has not put into the buffer yet.
        channel.basicNack(0, true, true);
      }
    } finally {
      ending.unlock();
    }
    channel.close();
  }
}
