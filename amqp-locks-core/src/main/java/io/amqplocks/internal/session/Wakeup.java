package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Somebody of this session who wants to be told when a slot comes free. Each word goes to one of all who
 * want it, in turns; so one that was not made use of is passed on.
 *
 * <p>Concurrency: a word that comes sets a flag, and whoever clears it has used the word, or must pass it
 * on. One that comes to somebody who has left is passed on by the client's thread that brought it.
 */
public final class Wakeup implements Carried {

  private static final Logger log = LoggerFactory.getLogger(Wakeup.class);

  private final LockId lock;
  private final String queue;
  private final String tag;
  private final Loan channel;
  private final SideConnection.Life life;
  private final Runnable wake;
  private final WakeQueues queues;
  private final AtomicBoolean called = new AtomicBoolean();
  private volatile boolean left;
  private volatile boolean gone;

  Wakeup(
      LockId lock,
      String queue,
      String tag,
      Loan channel,
      SideConnection.Life life,
      Runnable wake,
      WakeQueues queues) {
    this.lock = lock;
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
    this.life = life;
    this.wake = wake;
    this.queues = queues;
  }

  @Override
  public String tag() {
    return tag;
  }

  @Override
  public void delivered(Delivery delivery) throws IOException {
    called.set(true);
    if (left) {
      passOn();
    } else {
      wake.run();
    }
    delivery.remove();
  }

  /** Nobody waits for it any more, but its consumer is not known to be there yet. */
  void abandon() {
    left = true;
  }

  /** A holder died. All who wait are told of that, so there is nothing to pass on. */
  void wake() {
    wake.run();
  }

  /** From here on what comes is news; whether word has come since the last time. */
  public boolean use() {
    return called.getAndSet(false);
  }

  /** Whether no word comes this way any more. */
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

  /** Wants no word any more. Waits for nothing; never throws. */
  public void close() {
    left = true;
    life.deaths().leave(this);
    try {
      channel.cancel(tag);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A consumer ended with its channel: {}", BrokerErrors.text(e));
    }
    if (gone) {
      life.deliveries().discard(channel);
    } else {
      life.deliveries().giveBack(channel);
    }
    passOn();
  }

  private void passOn() {
    if (called.getAndSet(false)) {
      boolean unused = queues.tell(lock, queue);
    }
  }
}
