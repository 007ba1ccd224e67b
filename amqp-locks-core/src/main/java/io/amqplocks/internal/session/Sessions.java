package io.amqplocks.internal.session;

import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;

/** The session to use now: opened at first need, and again when the last one has ended. */
public final class Sessions {

  private final Connector connector;
  private final String role;
  private final Executor background;
  private final ThreadFactory threads;
  private final Duration callTimeout;
  private final Ticker ticker;
  private final SessionListener listener;
  private final SingleFlight<Session> current;
  private volatile boolean everOpened;
  private volatile boolean closed;

  /** Hears of each session as it opens; must not block. */
  @FunctionalInterface
  public interface SessionListener {
    /** This one was opened. */
    void opened(Session session);
  }

  /**
   * Opens nothing yet.
   *
   * @param role what the sessions are for; part of the name that an operator sees at the broker
   */
  public Sessions(
      Connector connector,
      String role,
      Executor background,
      ThreadFactory threads,
      Duration callTimeout,
      Ticker ticker,
      SessionListener listener) {
    this.connector = connector;
    this.role = role;
    this.background = background;
    this.threads = threads;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.listener = listener;
    current = connector.single(Session::isOpen, Session::close);
  }

  /**
   * The open session, opening one if there is none. All who find none wait for the same attempt, each no
   * longer than its call may take.
   */
  public Session current(Call call) {
    requireNotClosed(call);
    try {
      return current.get(call, this::open);
    } finally {
      // Also if it failed, and whatever it says: that is why. What was opened, the close has.
      requireNotClosed(call);
    }
  }

  private Session open() throws IOException, TimeoutException {
    Connection connection = connector.open(role);
    Session session = new Session(connection, connector, background, threads, callTimeout, ticker);
    try {
      listener.opened(session);
    } catch (RuntimeException e) {
      // Closed in the meantime, so nobody can be told.
      session.close();
      throw e;
    }
    everOpened = true;
    return session;
  }

  /** For how long nobody will try to reach the broker, because it could not be reached. */
  public long pauseNanos() {
    return current.pauseNanos();
  }

  /** Throws {@link LockException.Closed} if no session may be used any more. */
  public void requireNotClosed(Call call) {
    if (closed) {
      throw new LockException.Closed("This AmqpLocks is closed; no more leases of " + call.lock());
    }
  }

  /** The session, if one is open right now. */
  public Optional<Session> ifOpen() {
    return current.ifOpen();
  }

  /** Whether a session was ever open: if so, losing the broker is an accident and no misconfiguration. */
  public boolean everOpened() {
    return everOpened;
  }

  /** Whether no session may be opened any more. */
  public boolean isClosed() {
    return closed;
  }

  /** No new session, and no new use of the present one, from now on. */
  public void refuse() {
    closed = true;
  }

  /** Closes the open session, if any, and the one that is being opened, when it is open. */
  public void close() {
    closed = true;
    current.close();
  }
}
