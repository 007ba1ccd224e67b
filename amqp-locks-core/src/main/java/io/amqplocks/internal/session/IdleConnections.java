package io.amqplocks.internal.session;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Closes a session's connections that hold nothing, when nobody used them for a minute. A thousand
 * processes share a broker, and at rest each needs the connections that hold leases only.
 *
 * @param scheduler says when to look
 * @param background looks, which may take as long as a connection takes to close
 */
public record IdleConnections(ScheduledExecutorService scheduler, Executor background)
    implements Sessions.SessionListener {

  private static final long PERIOD_SECONDS = Duration.ofSeconds(20).toSeconds();

  @Override
  public void opened(Session session) {
    Future<?> looks =
        scheduler.scheduleWithFixedDelay(
            new PeriodicTask(
                "close of idle connections",
                () -> background.execute(session::closeIdleConnections)),
            PERIOD_SECONDS,
            PERIOD_SECONDS,
            TimeUnit.SECONDS);
    session.join(reason -> looks.cancel(false));
  }
}
