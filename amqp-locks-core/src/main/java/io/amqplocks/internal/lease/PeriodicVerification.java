package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.PeriodicTask;
import io.amqplocks.internal.session.Session;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Verifies all leases of a session periodically, while the session lasts. */
public final class PeriodicVerification {

  private final ScheduledExecutorService scheduler;
  private final Duration interval;
  private final List<LeaseRegistry> books;

  /**
   * Creates the verification of the leases in those registries.
   *
   * @param interval the time between two passes, unless the session's heartbeat requires a shorter
   *     one
   */
  public PeriodicVerification(
      ScheduledExecutorService scheduler, Duration interval, List<LeaseRegistry> books) {
    this.scheduler = scheduler;
    this.interval = interval;
    this.books = List.copyOf(books);
  }

  /**
   * Starts with a session that was just opened. The broker may have required a shorter heartbeat
   * than the settings assume. At least two passes are made within a heartbeat, or leases would be
   * uncertain between two passes.
   */
  public void begin(Session session) {
    Duration most = session.heartbeat().dividedBy(2);
    long period = (interval.compareTo(most) > 0 ? most : interval).toNanos();
    Future<?> passes =
        scheduler.scheduleWithFixedDelay(
            new PeriodicTask("verification of leases", () -> verify(session)),
            period,
            period,
            TimeUnit.NANOSECONDS);
    session.join(reason -> passes.cancel(false));
  }

  /** Starts a pass. Does not wait for its end. */
  private void verify(Session session) {
    for (LeaseRegistry registry : books) {
      var unused = registry.verify(session);
    }
  }
}
