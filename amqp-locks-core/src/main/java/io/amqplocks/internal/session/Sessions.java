package io.amqplocks.internal.session;

import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The session to use now: opened at first need, and again when the last one has ended.
 *
 * <p>Concurrency: the slot for the current session holds a future. Whoever replaces an absent, failed
 * or ended one by its own (compare-and-set) opens; all others wait for that future, within their own
 * bounds. So one session at most is being opened, and no lock is held meanwhile.
 */
public final class Sessions {

  private final Connector connector;
  private final ExecutorService background;
  private final ThreadFactory threads;
  private final Duration callTimeout;
  private final SessionListener listener;
  private final AtomicReference<@Nullable CompletableFuture<Session>> current =
      new AtomicReference<>();
  private volatile boolean everOpened;
  private volatile boolean closed;

  /** Hears of sessions; must not block. */
  public interface SessionListener {
    /** One was opened. */
    void opened();

    /** One ended. */
    void ended(String why);
  }

  /** Opens nothing yet. */
  public Sessions(
      Connector connector,
      ExecutorService background,
      ThreadFactory threads,
      Duration callTimeout,
      SessionListener listener) {
    this.connector = connector;
    this.background = background;
    this.threads = threads;
    this.callTimeout = callTimeout;
    this.listener = listener;
  }

  /** The open session, opening one if there is none. */
  public Session current(Call call) {
    while (true) {
      if (closed) {
        throw new LockException.Closed(
            "This AmqpLocks is closed; no more leases of " + call.lock());
      }
      CompletableFuture<Session> present = current.get();
      if (present != null && !isOver(present)) {
        return await(call, present);
      }
      CompletableFuture<Session> mine = new CompletableFuture<>();
      if (current.compareAndSet(present, mine)) {
        return open(call, mine);
      }
    }
  }

  /** The session, if one is open right now. */
  public Optional<Session> ifOpen() {
    CompletableFuture<Session> present = current.get();
    if (present == null || !present.isDone() || present.isCompletedExceptionally()) {
      return Optional.empty();
    }
    return Optional.of(present.join()).filter(Session::isOpen);
  }

  /** Whether a session was ever open: if so, losing the broker is an accident and no misconfiguration. */
  public boolean everOpened() {
    return everOpened;
  }

  /** Whether {@link #close()} was called. */
  public boolean isClosed() {
    return closed;
  }

  /** No session from now on. */
  public void refuse() {
    closed = true;
  }

  /** Closes the open session, if any. */
  public void close() {
    closed = true;
    ifOpen().ifPresent(Session::close);
  }

  private Session open(Call call, CompletableFuture<Session> mine) {
    try {
      Connection connection = connector.open(call, "holder");
      Session session = new Session(connection, connector, background, watchThread(), callTimeout);
      everOpened = true;
      listener.opened();
      session.join(listener::ended);
      mine.complete(session);
      if (closed) {
        session.close();
        throw new LockException.Closed("This AmqpLocks was closed; no lease of " + call.lock());
      }
      return session;
    } catch (RuntimeException e) {
      mine.completeExceptionally(e);
      throw e;
    }
  }

  private Session await(Call call, CompletableFuture<Session> present) {
    try {
      return Futures.await(present, call.remainingNanos());
    } catch (TimeoutException e) {
      throw call.unanswered("open a connection");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LockException failure) {
        throw failure;
      }
      throw BrokerErrors.calling(call, "open a connection", e);
    }
  }

  private static boolean isOver(CompletableFuture<Session> present) {
    return present.isCompletedExceptionally() || (present.isDone() && !present.join().isOpen());
  }

  /** One thread, started when there is something to watch. */
  private ExecutorService watchThread() {
    return new ThreadPoolExecutor(0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
  }
}
