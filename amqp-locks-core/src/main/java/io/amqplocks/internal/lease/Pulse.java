package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Answer;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A heartbeat of our own on a connection that holds: a small request, again and again, so that a broker that
 * gave us up without our hearing of it is missed after a time that is shorter than its heartbeats. Unlike a
 * shorter heartbeat it does not make the broker drop a client that is slow.
 *
 * @param scheduler says when
 * @param executor asks, and may wait for the broker
 * @param longestSilence how old the newest answer may be for leases to be HELD
 * @param callTimeout the bound on each request
 * @param books whose leases it is for; while they have none of a session, nothing is asked
 */
public record Pulse(
    ScheduledExecutorService scheduler,
    Executor executor,
    Duration longestSilence,
    Duration callTimeout,
    List<LeaseBook> books) {

  private static final Logger log = LoggerFactory.getLogger(Pulse.class);

  private static final LockId NONE = LockId.mutex("pulse");

  /** Begins with a session that was just opened. */
  public void begin(Session session) {
    session.certainFor(longestSilence);
    // Twice within it, so that one request may take as long as the other half.
    long period = longestSilence.toNanos() / 2;
    Future<?> beats =
        scheduler.scheduleAtFixedRate(
            () -> {
              if (books.stream().anyMatch(book -> book.holdsAny(session))) {
                executor.execute(() -> beat(session));
              }
            },
            period,
            period,
            TimeUnit.NANOSECONDS);
    session.join(reason -> beats.cancel(false));
  }

  private void beat(Session session) {
    try {
      Answer unused = session.hear(Call.on(NONE, callTimeout, Ticker.SYSTEM));
    } catch (LockException e) {
      log.debug("No sign of life of the broker: {}", e.getMessage());
    }
  }
}
