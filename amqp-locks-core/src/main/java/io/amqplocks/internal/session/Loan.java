package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A share in a {@link DeliveryChannel}, from when it is lent until its owner gives it back. Each owner has
 * a loan of its own, and a loan ends once, however often it is given back: so nobody gives back what
 * another still uses.
 */
final class Loan {

  private final DeliveryChannel lent;
  private final AtomicBoolean ended = new AtomicBoolean();

  Loan(DeliveryChannel lent) {
    this.lent = lent;
  }

  DeliveryChannel lent() {
    return lent;
  }

  /** The client's channel. */
  Channel getChannel() {
    return lent.getChannel();
  }

  /** As {@link DeliveryChannel#carry}. */
  void carry(Carried next) {
    lent.carry(next);
  }

  /** As {@link DeliveryChannel#cancel}. */
  void cancel(String tag) throws IOException {
    lent.cancel(tag);
  }

  /** Ends it; false if it had ended. */
  boolean end() {
    return ended.compareAndSet(false, true);
  }

  boolean isEnded() {
    return ended.get();
  }
}
