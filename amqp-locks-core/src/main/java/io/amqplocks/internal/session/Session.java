package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.AdminConnection;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.AuxiliaryReader;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.DurableQueues;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One life of the holder connection. When it ends, every lease on it is lost for good, and nothing
 * is restored automatically. A session may be for one lease, beside the one for all others ({@link
 * LeaseSessions}).
 *
 * <p>Concurrency: who ends with the session, and that it ends once, is for {@link SessionMembers}.
 * Who ends it drops its connections. If the system starts no thread for that, a mark says so, and
 * whoever clears the mark drops them: the pool, or a close. All else is final, but for a volatile
 * setting that is made before there are leases.
 */
// More than 300 lines: most are accessors of what the kinds of locks may use of a session.
public final class Session {

  private final Connection connection;
  private final BrokerProfile broker;
  private final Connector connector;
  private final Executor background;
  private final ThreadFactory threads;
  private final Duration callTimeout;
  private final Ticker ticker;
  private final RpcChannelPool rpc;
  private final ConsumerChannelPool consumerChannels;
  private final DurableQueues durableQueues;
  private final AuxiliaryConnection prober;
  private final AuxiliaryConnection announcer;
  private final AuxiliaryConnection side;
  private final AuxiliaryReader reader;
  private final Map<PerSession<?>, Object> extensions = new ConcurrentHashMap<>();
  private final Lock making = new ReentrantLock();
  private volatile Duration certainFor = Duration.ofDays(1);
  private final @Nullable Session shared;
  private final SessionMembers members;

  /** Whether the session has ended, and nobody drops its connections yet. */
  private final AtomicBoolean undropped = new AtomicBoolean();

  /** A participant that ends with the session. */
  @FunctionalInterface
  public interface Member {
    /** Called when the session has ended; must not block. */
    void sessionEnded(LossReason reason);

    /** The leases that end with the session, for the log; empty if the member is none. */
    default List<String> leases() {
      return List.of();
    }

    /** Whether it is a lease of that lock, held or being acquired. */
    default boolean isOf(LockId lock) {
      return false;
    }
  }

  Session(
      Connection connection,
      Connector connector,
      Executor background,
      ThreadFactory threads,
      Duration callTimeout,
      Ticker ticker) {
    this(connection, connector, background, threads, callTimeout, ticker, null);
  }

  private Session(
      Connection connection,
      Connector connector,
      Executor background,
      ThreadFactory threads,
      Duration callTimeout,
      Ticker ticker,
      @Nullable Session shared) {
    this.shared = shared;
    members = new SessionMembers(shared == null);
    this.connection = connection;
    broker = BrokerProfile.of(connection);
    this.connector = connector;
    this.background = background;
    this.threads = threads;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    rpc = new RpcChannelPool(connection, background, ticker, this::endIfClosed);
    consumerChannels = new ConsumerChannelPool(connection, rpc, background);
    durableQueues = new DurableQueues(rpc, broker);
    prober = new AuxiliaryConnection(connector, "prober", broker, background, ticker);
    announcer = new AuxiliaryConnection(connector, "announcer", broker, background, ticker);
    side = new AuxiliaryConnection(connector, "side", broker, background, ticker);
    reader = new AuxiliaryReader(side);
    connection.addShutdownListener(
        cause -> end(new LossReason(Cause.SESSION_ENDED, BrokerErrors.text(cause))));
  }

  /** As {@link PerSession#of}. */
  <T> T extension(PerSession<T> key, Function<Session, T> maker) {
    Object there = extensions.get(key);
    if (there == null) {
      there = make(key, maker);
    }
    @SuppressWarnings("unchecked") // Only its own key has put it there.
    T extension = (T) there;
    return extension;
  }

  /** Not within the map's own update, in which a maker could not ask for another extension. */
  private Object make(PerSession<?> key, Function<Session, ?> maker) {
    making.lock();
    try {
      Object there = extensions.get(key);
      if (there == null) {
        there = maker.apply(this);
        extensions.put(key, there);
      }
      return there;
    } finally {
      making.unlock();
    }
  }

  /** The connection that holds. */
  public Connection connection() {
    return connection;
  }

  /** Its channels for one question at a time. */
  public RpcChannelPool rpc() {
    return rpc;
  }

  /** Its channels for one consumer or one message each. */
  public ConsumerChannelPool consumerChannels() {
    return consumerChannels;
  }

  /** Durable queues, as this session sees them. */
  public DurableQueues durableQueues() {
    return durableQueues;
  }

  /** Whether an alarm of the broker stops one of the connections that publish. */
  public boolean isBlocked() {
    return prober.blocked().isDone() || announcer.blocked().isDone();
  }

  /** The connection for probes. */
  public AuxiliaryConnection prober() {
    return prober;
  }

  /** The connection for telling waiters of releases. */
  public AuxiliaryConnection announcer() {
    return announcer;
  }

  /** The connection that may break without harm to a lease. */
  public AuxiliaryConnection side() {
    return side;
  }

  /**
   * Closes the connections that hold nothing and were not used lately. May take a few call
   * timeouts.
   */
  void closeIdleConnections() {
    prober.closeIfIdle();
    announcer.closeIfIdle();
    side.closeIfIdle();
  }

  /** Reads the auxiliary queues of locks. */
  public AuxiliaryReader reader() {
    return reader;
  }

  /** A connection to administer a lock by; the caller closes it. */
  public AdminConnection openAdministrator(Call call) {
    return connector.openAdministrator(call);
  }

  /**
   * Opens a session for one lease ({@link LeaseSessions}). It has a connection of its own, and this
   * one is its {@linkplain #shared() shared} session.
   */
  Session another() throws IOException, TimeoutException {
    return new Session(
        connector.open("lease holder"), connector, background, threads, callTimeout, ticker, this);
  }

  /** Something that a thread of the library opens for callers of this session. */
  <T> SingleFlight<T> single(Predicate<T> usable, Consumer<T> disposal) {
    return connector.single(usable, disposal);
  }

  /** The session of all other leases, if this one is for one lease. Else this session. */
  public Session shared() {
    return shared == null ? this : shared;
  }

  /** What ends this session, which is for one lease, together with the shared one. */
  Member endWithShared() {
    return new Member() {
      @Override
      public void sessionEnded(LossReason reason) {
        // The shared session has named the lease.
        end(reason, true);
      }

      @Override
      public List<String> leases() {
        return members.leases();
      }
    };
  }

  /** Closes the session if it is for one lease, which has gone back to the broker. */
  public void leaseEnded() {
    if (shared != null) {
      close();
    }
  }

  /** The virtual host that the session works in. */
  public String virtualHost() {
    return connector.virtualHost();
  }

  /** Work that nobody waits for. */
  public Executor background() {
    return background;
  }

  /** Makes threads that are named after this client. */
  public ThreadFactory threads() {
    return threads;
  }

  /** The bound on calls that no user made. */
  public Duration callTimeout() {
    return callTimeout;
  }

  /** The time. */
  public Ticker ticker() {
    return ticker;
  }

  /** What the broker at the other end of the holder connection can do. */
  public BrokerProfile broker() {
    return broker;
  }

  /** The negotiated heartbeat. */
  public Duration heartbeat() {
    return Duration.ofSeconds(connection.getHeartbeat());
  }

  /**
   * Sets how long a silence may last before leases are uncertain, whatever the heartbeat. To be
   * called before there are any leases.
   */
  public void certainFor(Duration longestSilence) {
    certainFor = longestSilence;
  }

  /**
   * How long a silence may last before leases are uncertain. Far longer than any heartbeat unless
   * it was set.
   */
  public Duration certainFor() {
    return certainFor;
  }

  /**
   * Requests a sign of life by the cheapest request for the broker: it concerns no queue and no
   * process but the channel's.
   *
   * @throws LockException.Unanswered if no reply arrived in time, or the last one is overdue
   */
  public void hear(Call call) {
    Answer unused =
        rpc.askUnlessOverdue(
            call, "say that it hears us", new Basic.Qos.Builder().prefetchCount(1).build(), "");
  }

  /** The time since the sending of the newest request that the broker has answered. */
  public long silentNanos() {
    return rpc.silentNanos();
  }

  /**
   * Whether the session has not ended, as far as this process knows. If the connection has just
   * closed, this call ends the session.
   */
  public boolean isOpen() {
    return endReason() == null;
  }

  /** Why the session has ended, as far as this process knows; null if it is {@link #isOpen}. */
  public @Nullable LossReason endReason() {
    endIfClosed();
    return members.endReason();
  }

  private void endIfClosed() {
    if (!members.haveEnded() && !connection.isOpen()) {
      // The connection's listeners are notified only when the socket is closed.
      end(new LossReason(Cause.SESSION_ENDED, BrokerErrors.text(connection.getCloseReason())));
    }
  }

  /** Notifies the member once when the session ends, or now if it has. */
  public void join(Member member) {
    members.join(member);
  }

  /** Whether a lease of the lock that has not ended depends on the session, besides that one. */
  public boolean hasLease(LockId lock, Member besides) {
    return members.hasLease(lock, besides);
  }

  /** Removes the member, which is no longer notified. */
  public void leave(Member member) {
    members.leave(member);
  }

  /** Ends the session: all its leases are lost, and its connections are dropped. Does not block. */
  public void end(LossReason reason) {
    end(reason, false);
  }

  private void end(LossReason reason, boolean isReported) {
    if (members.end(reason, isReported)) {
      onItsOwnThread(this::drop, this::dropLater);
    }
  }

  /** A connection that stays open keeps at the broker what the lost leases held. */
  private void dropLater(Runnable unused) {
    undropped.set(true);
    background.execute(this::dropIfNobodyDoes);
  }

  private void dropIfNobodyDoes() {
    if (undropped.compareAndSet(true, false)) {
      drop();
    }
  }

  /**
   * Ends the session as the last step of an orderly close, and returns when its connections are
   * closed. If it had ended before, another thread closes them, unless none could be started.
   */
  public void close() {
    if (members.end(new LossReason(Cause.SESSION_ENDED, "closed by this process"), false)) {
      drop();
    } else {
      // The pool may not get a thread any more before it is shut down.
      dropIfNobodyDoes();
    }
  }

  /** Closes all connections at once, because a frozen broker is waited for on each of them. */
  private void drop() {
    CompletableFuture<Void> others = CompletableFuture.completedFuture(null);
    Queue<Runnable> withoutThread = new ArrayDeque<>();
    try {
      others =
          CompletableFuture.allOf(
              Stream.of(prober, announcer, side)
                  .map(
                      other ->
                          CompletableFuture.runAsync(
                              other::close, task -> onItsOwnThread(task, withoutThread::add)))
                  .toArray(CompletableFuture<?>[]::new));
    } finally {
      // First, and whatever becomes of the others: this connection holds the leases.
      connection.abort(Math.toIntExact(callTimeout.toMillis()));
    }
    withoutThread.forEach(Runnable::run);
    others.join();
  }

  /**
   * Runs the task by no pool, which may be full, or shut down already. If no thread can be started
   * now, it is for the other executor.
   */
  private void onItsOwnThread(Runnable task, Executor otherwise) {
    try {
      threads.newThread(task).start();
    } catch (RuntimeException | Error e) {
      otherwise.execute(task);
    }
  }
}
