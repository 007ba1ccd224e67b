package io.amqplocks.internal.wakeup;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.ChannelListener;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subscription of this session to notifications of free slots. Each notification goes to one of
 * all subscribers, in turns. So an unused one is passed on.
 *
 * <p>Concurrency: an arriving notification sets a reference. The thread that clears it uses the
 * notification, or must pass it on. A notification that arrives after the close is passed on by the
 * client's thread that delivered it.
 */
public final class WakeSubscription implements ChannelListener {

  private static final Logger log = LoggerFactory.getLogger(WakeSubscription.class);

  /** What arrived since the last look. */
  public enum Notification {
    /** Nothing. */
    NONE,
    /** Only notifications that this session sent. */
    OF_THIS_SESSION,
    /** A notification of another process. */
    OF_OTHERS
  }

  private final LockId lock;
  private final String queue;
  private final String tag;
  private final BorrowedChannel channel;
  private final ConsumerChannelPool channels;
  private final QueueDeletedEvents events;
  private final Runnable wake;
  private final WakeQueues queues;
  private final AtomicReference<Notification> arrived = new AtomicReference<>(Notification.NONE);
  private volatile boolean left;
  private volatile boolean gone;

  WakeSubscription(
      LockId lock,
      String queue,
      String tag,
      BorrowedChannel channel,
      ConsumerChannelPool channels,
      QueueDeletedEvents events,
      Runnable wake,
      WakeQueues queues) {
    this.lock = lock;
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
    this.channels = channels;
    this.events = events;
    this.wake = wake;
    this.queues = queues;
  }

  @Override
  public String tag() {
    return tag;
  }

  @Override
  public void delivered(Delivery delivery) throws IOException {
    boolean ours = queues.isOurs(delivery.content());
    restore(ours ? Notification.OF_THIS_SESSION : Notification.OF_OTHERS);
    if (left) {
      passOn();
    } else {
      wake.run();
    }
    delivery.remove();
  }

  QueueDeletedEvents events() {
    return events;
  }

  /**
   * Marks the subscription as no longer needed, although it is not known yet whether the consumer
   * exists.
   */
  void abandon() {
    left = true;
  }

  /**
   * Wakes the waiter because a holder died. All waiters are notified of that, so there is nothing
   * to pass on.
   */
  void wake() {
    wake.run();
  }

  /** Takes the notification that has arrived since the last call. */
  public Notification use() {
    return arrived.getAndSet(Notification.NONE);
  }

  /** Has a notification as unused: one that has just arrived, or whose use failed. */
  public void restore(Notification unused) {
    arrived.accumulateAndGet(unused, (last, next) -> last.compareTo(next) > 0 ? last : next);
  }

  /** Whether no notification can arrive any more. */
  public boolean isGone() {
    return gone;
  }

  @Override
  public void cancelled() {
    gone = true;
    wake.run();
  }

  @Override
  public void closed(ShutdownSignalException cause) {
    cancelled();
  }

  /** Ends the subscription. Does not wait, and never throws. */
  public void close() {
    left = true;
    events.leave(this);
    try {
      channel.cancel(tag);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A consumer ended with its channel: {}", BrokerErrors.text(e));
    }
    if (gone) {
      channels.discard(channel);
    } else {
      channels.giveBack(channel);
    }
    passOn();
  }

  private void passOn() {
    if (use() != Notification.NONE) {
      queues.tell(lock, queue, () -> {});
    }
  }
}
