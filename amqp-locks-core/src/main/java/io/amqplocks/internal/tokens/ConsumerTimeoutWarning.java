package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.ServerVersion;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once, of a hold that the broker may soon end because its message is not acknowledged, and
 * which no verification has renewed as a new delivery. RabbitMQ 3.10 and 3.11 do that for all
 * queues after {@code consumer_timeout}, which no client can see or change. From 3.12 on our queues
 * are declared with a longer timeout, or have none (trap 9).
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

  void warn(long now, Object hold, ServerVersion server, TokenQueueRef tokenQueue) {
    if (isAt(now - since, server, tokenQueue) && warned.compareAndSet(false, true)) {
      log.warn(
          "{} was not given back to be verified for more than 20 minutes, and {} takes it back after"
              + " consumer_timeout, 30 minutes unless set otherwise: set a shorter heartbeat, raise consumer_timeout, or use a semaphore of slots",
          hold,
          server);
    }
  }

  /** Whether a token held for the given time, on the given server, is at risk. */
  static boolean isAt(long nanos, ServerVersion server, TokenQueueRef tokenQueue) {
    boolean forAll = !server.isAtLeast(3, 12);
    // A plain queue has no arguments, so the broker's own timeout applies.
    boolean forPlain = tokenQueue.plain() && !server.isAtLeast(4, 3);
    return nanos > LONG && (forAll || forPlain);
  }
}
