package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DeliverCallback;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.leader.Leadership;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes a tracking queue, and an active queue, which is exclusive. Its name is never used again,
 * and no exchange is declared: what one consumer leaves at its end, another one does not touch
 * (trap 25).
 *
 * <p>First everything is bound, then the messages in the tracking queue are counted: later ones
 * come by both ways. Which one is next is decided by {@link TwoWays}.
 *
 * <p>Concurrency: {@code TwoWays} is guarded by one lock. The client's threads put messages into
 * it, the worker takes them, and the thread that ends the subscription gives them back. The broker
 * is told under another lock. The channel is closed after the other thread has ended the
 * subscription: a channel that is being closed drops the answers to other calls.
 */
final class ActiveQueueSubscription implements Subscription {

  private static final Logger log = LoggerFactory.getLogger(ActiveQueueSubscription.class);

  /** A UUID comes behind it. */
  static final String SUFFIX = ".active.";

  /** The protocol has two bytes for it. */
  private static final int MOST_PREFETCH = 65_535;

  /**
   * How long the tracking queue has, at the end, to send the copies of what was handled. What does
   * not come is delivered to the next consumer as well.
   */
  private static final long COPIES_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Channel channel;
  private final Leadership term;
  private final boolean nacks;
  private final String ingress;
  private final String routingKey;
  private final String own;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private final TwoWays<Delivery> messages;
  private final String trackingTag;
  private final String activeTag;

  /** Held while the broker is told to send no more, and the channel is not to be closed. */
  private final ReentrantLock ending = new ReentrantLock();

  private boolean leaving;

  /** Held while the broker is told of single messages, or of all that are left. */
  private final ReentrantLock telling = new ReentrantLock();

  private boolean allToldOf;

  /** What the broker is to be told when the guard is given back, by whoever is first. */
  private final Queue<Runnable> toTell = new ConcurrentLinkedQueue<>();

  private @Nullable String broken;
  private boolean dropped;
  private boolean ended;

  /** From the cancel on, behind which the client may still pass on what came before it. */
  private boolean givesBack;

  ActiveQueueSubscription(
      Channel channel, SoleConsumerBuilder settings, Leadership term, HandledIds handled)
      throws IOException {
    this.channel = channel;
    this.term = term;
    nacks = BrokerProfile.of(channel.getConnection()).nackKeepsPlace();
    ingress = Objects.requireNonNull(settings.ingress);
    routingKey = settings.routingKey;
    own = settings.queue + SUFFIX + UUID.randomUUID();
    channel.queueBind(settings.queue, ingress, routingKey);
    channel.queueDeclare(own, false, true, true, Map.of());
    channel.queueBind(own, ingress, routingKey);
    messages =
        new TwoWays<>(
            ActiveQueueSubscription::id,
            new AtBroker(),
            handled,
            channel.messageCount(settings.queue),
            settings.prefetch);
    // First the exclusive queue. If this failed with messages of the tracking queue on the channel,
    // a quorum queue would count that against them, and drop them in the end.
    channel.basicQos(Math.min(2 * settings.prefetch, MOST_PREFETCH));
    activeTag = consume(own, messages::cameByActive);
    channel.basicQos(settings.prefetch);
    trackingTag = consume(settings.queue, messages::cameByTracking);
  }

  /**
   * What was dead-lettered is another attempt at the same message: it keeps its id, and is to be
   * handled again.
   */
  private static @Nullable String id(Delivery delivery) {
    Map<String, Object> headers = delivery.properties().getHeaders();
    return headers != null && headers.containsKey("x-death")
        ? null
        : delivery.properties().getMessageId();
  }

  /** Exclusively: on a classic queue the broker refuses others. */
  private String consume(String queue, Consumer<Delivery> came) throws IOException {
    DeliverCallback received =
        (tag, message) ->
            change(
                () -> {
                  came.accept(new Delivery(term, message));
                  if (givesBack) {
                    messages.giveBackRest();
                  }
                });
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
    changeUntold(change);
    tellBroker();
  }

  private void changeUntold(Runnable change) {
    guard.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  private void tellBroker() {
    if (toTell.isEmpty()) {
      return;
    }
    telling.lock();
    try {
      tellNoted();
    } finally {
      telling.unlock();
    }
  }

  /** Each message once: the broker closes a channel that names one that it does not know. */
  private void tellNoted() {
    for (Runnable next = toTell.poll(); next != null; next = toTell.poll()) {
      if (!allToldOf) {
        next.run();
      }
    }
  }

  /** Notes what to tell the broker. */
  private final class AtBroker implements TwoWays.Broker<Delivery> {

    @Override
    public void settle(Delivery copy, boolean rejected) {
      toTell.add(() -> tell(copy, rejected));
    }

    @Override
    public void giveBack(Delivery copy) {
      toTell.add(() -> tellBack(copy));
    }
  }

  /** What it cannot tell, because the channel is closed, the broker does by itself. */
  private void tell(Delivery copy, boolean rejected) {
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

  private void tellBack(Delivery copy) {
    try {
      if (nacks) {
        channel.basicNack(copy.tag(), false, true);
      }
    } catch (IOException | RuntimeException e) {
      log.debug("The broker takes back by itself what was sent ahead", e);
    }
  }

  @Override
  public @Nullable Delivery next(long millis) throws IOException {
    guard.lock();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(millis);
      Delivery next = ended ? null : messages.next();
      while (next == null && broken == null && !ended && left > 0) {
        left = changed.awaitNanos(left);
        next = ended ? null : messages.next();
      }
      if (next == null && broken != null) {
        throw new IOException(broken);
      }
      return next;
    } catch (InterruptedException e) {
      // Nobody but a handler interrupts this thread, and what is to stop it is the term.
      return null;
    } finally {
      guard.unlock();
      tellBroker();
    }
  }

  /** What went back to the queue after the term is not known as handled: it comes again. */
  @Override
  public void settle(Delivery delivery) {
    boolean atBroker = channel.isOpen() || term.isCurrent();
    change(
        () -> {
          if (atBroker && !dropped) {
            messages.settle(delivery.isRejected());
          } else {
            messages.giveBackInHand();
          }
        });
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
  public void drop() {
    // Does not wait for one who cannot write to the connection.
    changeUntold(() -> dropped = true);
  }

  @Override
  public void end() {
    change(() -> ended = true);
    ending.lock();
    try {
      if (!leaving) {
        leaving = true;
        leave();
        // What is given back before that might come again at once.
        change(
            () -> {
              givesBack = true;
              messages.giveBackRest();
            });
      }
    } catch (IOException | RuntimeException e) {
      log.debug("The broker takes all back by itself when the channel closes", e);
    } finally {
      ending.unlock();
    }
  }

  private void leave() throws IOException {
    // From then on the broker routes nothing to a queue that is about to end; such a message it
    // would refuse to its publisher.
    channel.queueUnbind(own, ingress, routingKey);
    awaitCopies();
    channel.basicCancel(trackingTag);
    channel.basicCancel(activeTag);
  }

  private void awaitCopies() {
    boolean interrupted = false;
    guard.lock();
    try {
      long left = COPIES_NANOS;
      while (left > 0 && broken == null && messages.awaitsCopies()) {
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          // A handler may have left the flag set, and the copies come all the same.
          interrupted = true;
        }
      }
    } finally {
      guard.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void close() throws IOException, TimeoutException {
    end();
    giveBackAll();
    channel.close();
  }

  /** Also what the broker had sent, and the client's thread has not passed on yet. */
  private void giveBackAll() throws IOException {
    telling.lock();
    try {
      // Also what another thread has noted, and was not in time to tell.
      tellNoted();
      allToldOf = true;
      if (nacks) {
        channel.basicNack(0, true, true);
      }
    } finally {
      telling.unlock();
    }
  }
}
