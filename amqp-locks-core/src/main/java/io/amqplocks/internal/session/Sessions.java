package io.amqplocks.internal.session;

import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;

/** The current session. It is opened at first use, and again after the last one has ended. */
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

  /** Notified of each session when it opens; must not block. */
  @FunctionalInterface
  public interface SessionListener {
    /** Called when the given session was opened. */
    void opened(Session session);
  }

  /**
   * Does not open a session yet.
   *
   * @param role the purpose of the sessions; part of the name that an operator sees at the broker
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
   * The open session. If there is none, one is opened. All callers that find none wait for the same
   * attempt, each within the bound of its call. A call that {@linkplain Call#failsFast fails fast}
   * does not wait for an attempt that follows a failed one, nor for the pause before it: it gets
   * the last failure at once.
   *
   * @throws LockException.Unsupported if the broker cannot do what the call's lock needs
   */
  public Session current(Call call) {
    requireNotClosed(call);
    try {
      Session session =
          call.failsFast()
              ? current.getUnlessFailing(call, this::open)
              : current.get(call, this::open);
      session.broker().requireKind(call);
      return session;
    } finally {
      // A close explains any failure of the attempt, so it is reported instead. If a session was
      // opened, the close disposes of it.
      requireNotClosed(call);
    }
  }

  /**
   * Throws the failure of the last attempt to connect, as long as no other one may begin or has
   * ended.
   */
  public void requireNotFailing(Call call) {
    requireNotClosed(call);
    current.requireNotFailing(call);
  }

  /**
   * The failure of the last attempt to connect, as long as no other one may begin or has ended.
   */
  public Optional<LockException> failure(Call call) {
    return current.failure(call);
  }

  private Session open() throws IOException, TimeoutException {
    Connection connection = connector.open(role);
    Session session = new Session(connection, connector, background, threads, callTimeout, ticker);
    try {
      listener.opened(session);
    } catch (RuntimeException | Error e) {
      // The locks were closed in the meantime, so no listener can be notified, or there is no
      // thread for what it starts.
      session.close();
      throw e;
    }
    everOpened = true;
    return session;
  }

  /** The time until the next attempt to reach the broker, after a failed one. */
  public long pauseNanos() {
    return current.pauseNanos();
  }

  /** Throws {@link LockException.Closed} if no session may be used any more. */
  public void requireNotClosed(Call call) {
    if (closed) {
      throw new LockException.Closed(
          "This AmqpLocks is closed; no more leases of " + call.purpose());
    }
  }

  /** The session, if one is open right now. */
  public Optional<Session> ifOpen() {
    return current.ifOpen();
  }

  /**
   * Whether a session was ever open. If so, losing the broker is an accident, not a
   * misconfiguration.
   */
  public boolean everOpened() {
    return everOpened;
  }

  /** Whether no session may be opened any more. */
  public boolean isClosed() {
    return closed;
  }

  /** From now on no session is opened, and the present one is not used for new calls. */
  public void refuse() {
    closed = true;
  }

  /** Closes the open session, if any. A session that is being opened is closed when it is open. */
  public void close() {
    closed = true;
    current.close();
  }
}
