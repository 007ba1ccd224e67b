package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.BrokerProfile;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once, of a hold that the broker may soon end because its message is not acknowledged, and
 * which no verification has renewed as a new delivery. {@link BrokerProfile#hasConsumerTimeout}
 * says which queues are concerned.
 */
final class ConsumerTimeoutWarning {

  private static final Logger log = LoggerFactory.getLogger(ConsumerTimeoutWarning.class);

  /** Two thirds of the broker's default of 30 minutes. */
  private static final long LONG = 20L * 60 * 1_000_000_000;

  private final long since;
  private final AtomicBoolean warned = new AtomicBoolean();

  /** The risk of a message that arrived at the given time. */
  ConsumerTimeoutWarning(long since) {
    this.since = since;
  }

  void warn(long now, Object hold, BrokerProfile broker, TokenQueueRef tokenQueue) {
    if (isAt(now - since, broker, tokenQueue) && warned.compareAndSet(false, true)) {
      log.warn(
          "{} was not given back to be verified for more than 20 minutes, and {} takes it back after"
              + " consumer_timeout, 30 minutes unless set otherwise: set a shorter heartbeat, raise consumer_timeout, or use a semaphore of slots",
          hold,
          broker);
    }
  }

  /** Whether a token held for the given time, on the given broker, is at risk. */
  static boolean isAt(long nanos, BrokerProfile broker, TokenQueueRef tokenQueue) {
    return nanos > LONG && broker.hasConsumerTimeout(tokenQueue.plain());
  }
}
