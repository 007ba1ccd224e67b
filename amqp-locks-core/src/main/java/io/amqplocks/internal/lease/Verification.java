package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Session;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Verifies all leases of a session again and again, for as long as it lasts. */
public final class Verification {

  private final ScheduledExecutorService scheduler;
  private final Duration interval;
  private final List<LeaseBook> books;

  /**
   * Of the leases in those books.
   *
   * @param interval the time between two passes, unless the session's heartbeat wants a shorter one
   */
  public Verification(
      ScheduledExecutorService scheduler, Duration interval, List<LeaseBook> books) {
    this.scheduler = scheduler;
    this.interval = interval;
    this.books = List.copyOf(books);
  }

  /**
   * Begins with a session that was just opened. The broker may have insisted on a shorter heartbeat
   * than the settings reckon with: twice within it, or leases would be uncertain between two passes.
   */
  public void begin(Session session) {
    Duration most = session.heartbeat().dividedBy(2);
    long period = (interval.compareTo(most) > 0 ? most : interval).toNanos();
    Future<?> passes =
        scheduler.scheduleWithFixedDelay(
            () -> verify(session), period, period, TimeUnit.NANOSECONDS);
    session.join(reason -> passes.cancel(false));
  }

  /** The pass ends by itself; whoever waits for its end is another. */
  private void verify(Session session) {
    for (LeaseBook book : books) {
      var unused = book.verify(session);
    }
  }
}
