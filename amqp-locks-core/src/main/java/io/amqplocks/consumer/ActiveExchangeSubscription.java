package io.amqplocks.consumer;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DeliverCallback;
import io.amqplocks.leader.Leadership;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes a tracking queue, and an exclusive queue of its own behind the active exchange. The
 * exchange is deleted by the broker with the last queue behind it.
 *
 * <p>First everything is bound, then the messages in the tracking queue are counted: later ones
 * come by both ways. Which one is next is decided by {@link TwoWays}.
 *
 * <p>Concurrency: {@code TwoWays} is guarded by one lock. The client's threads put messages into
 * it, the worker takes them, and the thread that ends the subscription gives them back. Requests
 * that wait for an answer are sent outside the lock.
 */
final class ActiveExchangeSubscription implements Subscription {

  private static final Logger log = LoggerFactory.getLogger(ActiveExchangeSubscription.class);

  static final String SUFFIX = ".active";

  /**
   * How long the tracking queue has, at the end, to send the copies of what was handled. What does
   * not come is delivered to the next consumer as well.
   */
  private static final long COPIES_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Channel channel;
  private final Leadership term;
  private final boolean nacks;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private final TwoWays<Delivery> messages;
  private final String trackingTag;
  private final String activeTag;
  private final AtomicBoolean cancelled = new AtomicBoolean();
  private @Nullable String broken;
  private boolean ended;

  ActiveExchangeSubscription(
      Channel channel, SoleConsumerBuilder settings, Leadership term, HandledIds handled)
      throws IOException {
    this.channel = channel;
    this.term = term;
    nacks = Subscription.nacks(channel);
    String ingress = Objects.requireNonNull(settings.ingress);
    String exchange = settings.queue + SUFFIX;
    String own = exchange + "." + UUID.randomUUID();
    channel.queueBind(settings.queue, ingress, settings.routingKey);
    channel.queueDeclare(own, false, true, true, Map.of());
    channel.exchangeDeclare(exchange, BuiltinExchangeType.FANOUT, false, true, true, Map.of());
    channel.queueBind(own, exchange, "");
    channel.exchangeBind(exchange, ingress, settings.routingKey);
    messages =
        new TwoWays<>(
            delivery -> delivery.properties().getMessageId(),
            new AtBroker(),
            handled,
            channel.messageCount(settings.queue),
            settings.prefetch);
    trackingTag = consume(settings.queue, messages::cameByTracking);
    activeTag = consume(own, messages::cameByActive);
  }

  /** Exclusively: on a classic queue the broker refuses others. */
  private String consume(String queue, Consumer<Delivery> came) throws IOException {
    DeliverCallback received =
        (tag, message) -> change(() -> came.accept(new Delivery(term, message)));
    return channel.basicConsume(
        queue,
        false,
        "",
        false,
        true,
        Map.of(),
        received,
        tag -> breaks("the broker cancelled the consumer of queue '" + queue + "'"),
        (tag, signal) -> breaks(String.valueOf(signal.getMessage())));
  }

  private void breaks(String reason) {
    change(() -> broken = broken == null ? reason : broken);
  }

  private void change(Runnable change) {
    guard.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  /** What it cannot tell the broker, because the channel is closed, the broker does by itself. */
  private final class AtBroker implements TwoWays.Broker<Delivery> {

    @Override
    public void settle(Delivery copy, boolean rejected) {
      try {
        if (rejected) {
          channel.basicReject(copy.tag(), false);
        } else {
          channel.basicAck(copy.tag(), false);
        }
      } catch (IOException | RuntimeException e) {
        log.debug("A message that was handled may come again", e);
      }
    }

    @Override
    public void giveBack(Delivery copy) {
      try {
        if (nacks) {
          channel.basicNack(copy.tag(), false, true);
        }
      } catch (IOException | RuntimeException e) {
        log.debug("The broker takes back by itself what was sent ahead", e);
      }
    }
  }

  @Override
  public @Nullable Delivery next(long millis) throws IOException {
    guard.lock();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(millis);
      while (true) {
        Delivery next = ended ? null : messages.next();
        if (next != null) {
          return next;
        }
        if (broken != null) {
          throw new IOException(broken);
        }
        if (ended || left <= 0) {
          return null;
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // Nobody but a handler interrupts this thread, and what is to stop it is the term.
      return null;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public void settle(Delivery delivery) {
    change(() -> messages.settle(delivery.isRejected()));
  }

  @Override
  public void giveBack(Delivery delivery) {
    change(messages::giveBackInHand);
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void end() {
    awaitCopies();
    try {
      if (cancelled.compareAndSet(false, true)) {
        channel.basicCancel(trackingTag);
        channel.basicCancel(activeTag);
      }
    } catch (IOException | RuntimeException e) {
      log.debug("The broker cancels a consumer by itself when its channel closes", e);
    }
    change(messages::giveBackRest);
  }

  /** Begins no message any more. */
  private void awaitCopies() {
    guard.lock();
    try {
      ended = true;
      changed.signalAll();
      long left = COPIES_NANOS;
      while (left > 0 && broken == null && messages.awaitsCopies()) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // Only the end of the JVM interrupts the threads that end a term.
      Thread.currentThread().interrupt();
    } finally {
      guard.unlock();
    }
  }

  @Override
  public void close() throws IOException, TimeoutException {
    end();
    channel.close();
  }
}
