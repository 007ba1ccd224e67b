package io.amqplocks.internal.tokens;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.ChannelListener;
import io.amqplocks.internal.broker.Delivery;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receiver of a token: a channel, and the consumer on it if there is one. A token that is held
 * for longer moves to another receiver.
 *
 * @param token the token whose messages arrive here
 * @param tag the consumer's tag, or empty if the message is requested by a get
 * @param loan the loan of the channel
 * @param hasTopPriority whether its consumer has had the highest priority of the queue from its
 *     beginning, so that a requeued message comes back to it
 */
record TokenReceiver(HeldToken token, String tag, BorrowedChannel loan, boolean hasTopPriority)
    implements ChannelListener {

  private static final Logger log = LoggerFactory.getLogger(TokenReceiver.class);

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

  /** Cancels the consumer. Never throws, and does not wait. */
  void cancel() {
    try {
      loan.cancel(tag);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A consumer ended with its channel: {}", BrokerErrors.text(e));
    }
  }

  /** Cancels the consumer, and gives the message back after that. Never throws. */
  void cancel(Delivery message) {
    try {
      loan.cancel(tag, () -> token.queueRef().putBack(message));
    } catch (IOException | ShutdownSignalException e) {
      // The channel or the connection is gone, so the broker has the token back.
      log.debug("A token went back with its channel: {}", BrokerErrors.text(e));
    }
  }

  /** Receivers are compared by identity: there is one object for each. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
