package io.amqplocks.internal.lease;

import io.amqplocks.internal.lease.LeaseStatus.Phase;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;

/**
 * What time says of one lease.
 *
 * <p>Concurrency: it ends once, by one thread, which writes when before it writes that.
 */
final class LeaseClock {

  private final Session session;
  private final LeaseBook book;
  private final Certainty certainty;
  private final long acquiredAt;
  private volatile long endedAt;
  private volatile boolean ended;

  LeaseClock(Session session, LeaseBook book) {
    this.session = session;
    this.book = book;
    certainty = Certainty.of(session.heartbeat(), session.certainFor());
    acquiredAt = book.nanos();
  }

  void end() {
    endedAt = book.nanos();
    ended = true;
  }

  /** How long it has lasted, or did. */
  Duration age() {
    return Duration.ofNanos((ended ? endedAt : book.nanos()) - acquiredAt);
  }

  /** How sure its holder may be whose last good verification was sent then. */
  LeaseState state(LeaseStatus status) {
    return certainty.after(book.nanos() - status.verifiedAt(), session.silentNanos());
  }

  /** Whether it was acquired and its holder may be sure. */
  boolean isHeld(LeaseStatus status) {
    return status.phase() == Phase.HELD && state(status) == LeaseState.HELD;
  }

  /** How long ago that was. */
  Duration unconfirmed(LeaseStatus status) {
    return Duration.ofNanos(book.nanos() - status.verifiedAt());
  }

  /** Why it is lost when the time is over. */
  LossReason expiry() {
    String why =
        "RabbitMQ has not answered for %d s, three heartbeats"
            .formatted(certainty.expired().toSeconds());
    return new LossReason(Cause.EXPIRED, why);
  }
}
