package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a token is taken into: a channel, and the consumer there if there is one. A token that is kept for
 * longer changes from one hand to another.
 *
 * @param token whose it is
 * @param tag the consumer's, or empty if the message is asked for
 * @param loan of the channel
 * @param keeps whether its consumer goes before all others of the queue, so that what it gives back
 *     comes back to it
 */
record Hand(HeldToken token, String tag, Loan loan, boolean keeps) implements Carried {

  private static final Logger log = LoggerFactory.getLogger(Hand.class);

  @Override
  public void delivered(Delivery message) throws IOException {
    token.delivered(this, message);
  }

  @Override
  public void cancelled() {
    token.cancelled(this);
  }

  @Override
  public void closed(ShutdownSignalException cause) {
    token.closed(this, cause);
  }

  /** Ends the consumer. Never throws, and waits for nothing. */
  void cancel() {
    try {
      loan.cancel(tag);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A consumer ended with its channel: {}", BrokerErrors.text(e));
    }
  }

  /** By identity: there is one object for each. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
