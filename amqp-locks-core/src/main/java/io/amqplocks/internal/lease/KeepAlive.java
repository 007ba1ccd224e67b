package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.PeriodicTask;
import io.amqplocks.internal.session.Session;
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
 * A heartbeat of our own on a connection that has leases: a small request that is sent
 * periodically. The broker may give this client up without the client being notified. The missing
 * reply shows that sooner than the connection's heartbeats do. Unlike a shorter heartbeat, this
 * does not make the broker drop a slow client.
 *
 * @param scheduler triggers the requests
 * @param executor sends the requests, and may wait for the broker
 * @param longestSilence how old the newest reply may be for leases to be HELD
 * @param callTimeout the bound on each request
 * @param books the registries of the leases; while they have no lease of a session, no request is
 *     sent
 */
public record KeepAlive(
    ScheduledExecutorService scheduler,
    Executor executor,
    Duration longestSilence,
    Duration callTimeout,
    List<LeaseRegistry> books) {

  private static final Logger log = LoggerFactory.getLogger(KeepAlive.class);

  private static final LockId NONE = LockId.mutex("pulse");

  /** Starts the heartbeat of a session that was just opened. */
  public void begin(Session session) {
    session.certainFor(longestSilence);
    // Twice within the permitted silence, so that one request may take as long as the other half.
    long period = longestSilence.toNanos() / 2;
    Future<?> beats =
        scheduler.scheduleAtFixedRate(
            new PeriodicTask("heartbeat of leases", () -> beatIfNeeded(session)),
            period,
            period,
            TimeUnit.NANOSECONDS);
    session.join(reason -> beats.cancel(false));
  }

  private void beatIfNeeded(Session session) {
    if (books.stream().anyMatch(registry -> registry.holdsAny(session))) {
      executor.execute(() -> beat(session));
    }
  }

  private void beat(Session session) {
    try {
      session.hear(Call.on(NONE, callTimeout, Ticker.SYSTEM));
    } catch (LockException e) {
      log.debug("No sign of life of the broker: {}", e.getMessage());
    }
  }
}
