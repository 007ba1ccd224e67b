package io.amqplocks.inmemory;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LocksStatus.Session;
import org.jspecify.annotations.Nullable;

/** The connection that the locks pretend to have. The table's monitor guards it. */
final class Connection {

  static final String CUT = "the test made the broker unavailable";

  /** As at a broker. */
  static final String CLOSED = "closed by this process";

  private final Notices notices;
  private boolean available = true;
  private volatile Session session = Session.NOT_OPENED;

  /** Whether listeners were told of the opening of a session and not yet of its end. */
  private boolean toldOfOpen;

  Connection(Notices notices) {
    this.notices = notices;
  }

  Session session() {
    return session;
  }

  boolean isUp() {
    return available && session != Session.CLOSED;
  }

  /** Whether a call waits for the end of an outage. None does before the first connection. */
  boolean mayHealFor(Request request) {
    return !request.failFast() && session != Session.NOT_OPENED;
  }

  /** What an outage throws; null if there is none. */
  @Nullable LockException outage(@Nullable LockId lock) {
    return available
        ? null
        : new LockException.Unreachable(
            "No connection to RabbitMQ for %s: %s".formatted(purpose(lock), CUT), null);
  }

  static LockException closed(@Nullable LockId lock) {
    return new LockException.Closed("This AmqpLocks is closed; no more leases of " + purpose(lock));
  }

  private static String purpose(@Nullable LockId lock) {
    return lock == null ? "all locks" : lock.toString();
  }

  void requireNotClosed(@Nullable LockId lock) {
    if (session == Session.CLOSED) {
      throw closed(lock);
    }
  }

  /** Opens the session if it is not open, or throws why not. */
  void require(@Nullable LockId lock) {
    requireNotClosed(lock);
    LockException outage = outage(lock);
    if (outage != null) {
      throw outage;
    }
    if (session != Session.OPEN) {
      session = Session.OPEN;
      toldOfOpen = true;
      notices.post(LockListener::sessionOpened);
    }
  }

  void cut() {
    available = false;
    if (session == Session.OPEN) {
      session = Session.ENDED;
    }
    end(CUT);
  }

  /** Ends the outage. Whoever waits opens the session at once. */
  void restore(boolean anyWaits) {
    available = true;
    if (anyWaits) {
      require(null);
    }
  }

  /** Returns false if it was closed before. */
  boolean close() {
    boolean first = session != Session.CLOSED;
    session = Session.CLOSED;
    return first;
  }

  /** Tells listeners of the end of a session. After a close, the leases are released before. */
  void end(String why) {
    if (toldOfOpen) {
      toldOfOpen = false;
      notices.post(listener -> listener.sessionEnded(why));
    }
  }
}
