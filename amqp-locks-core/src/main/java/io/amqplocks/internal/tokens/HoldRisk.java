package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.Server;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once, of a hold that the broker may soon end because its message is not acknowledged, and which
 * no verification has made a new delivery. RabbitMQ
 * 3.10 and 3.11 do that for all queues after {@code consumer_timeout}, which no client can see or
 * change; from 3.12 on our queues are declared with a longer one, or have none (trap 9).
 */
final class HoldRisk {

  private static final Logger log = LoggerFactory.getLogger(HoldRisk.class);

  /** Two thirds of the broker's default of 30 minutes. */
  private static final long LONG = 20L * 60 * 1_000_000_000;

  private final long since;
  private final AtomicBoolean warned = new AtomicBoolean();

  /** Of a message that came then. */
  HoldRisk(long since) {
    this.since = since;
  }

  void warn(long now, Object holding, Server server, TokenPlace place) {
    if (isAt(now - since, server, place) && warned.compareAndSet(false, true)) {
      log.warn(
          "{} was not given back to be verified for more than 20 minutes, and {} takes it back after"
              + " consumer_timeout, 30 minutes unless set otherwise: set a shorter heartbeat, raise consumer_timeout, or use a semaphore of slots",
          holding,
          server);
    }
  }

  /** Whether a token held for so long, on that server, is in danger. */
  static boolean isAt(long nanos, Server server, TokenPlace place) {
    boolean forAll = !server.isAtLeast(3, 12);
    // A plain queue has no arguments, so the broker's own timeout counts.
    boolean forPlain = place.plain() && !server.isAtLeast(4, 3);
    return nanos > LONG && (forAll || forPlain);
  }
}
