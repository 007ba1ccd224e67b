package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One life of the holder connection. When it ends, every lease on it is lost, for good; nothing comes
 * back by itself.
 *
 * <p>Concurrency: a session ends once, by compare-and-set of the reason. A member is told by whoever
 * takes it out of the set: the thread that ends the session, or the member's own thread when it finds,
 * having joined, that the session has ended. One of the two sees it, and only one can take it out.
 */
public final class Session {

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  private final Connection connection;
  private final ThreadFactory threads;
  private final Duration callTimeout;
  private final ScheduledThreadPoolExecutor watchThread;
  private final QuestionChannels holder;
  private final HolderQueues holders;
  private final SlotQueues slots;
  private final HolderConsumers consumers;
  private final TokenQueues tokens;
  private final WakeQueues wakes;
  private final RevocationWatch revocations;
  private final PublishingConnection prober;
  private final PublishingConnection announcer;
  private final SideConnection side;
  private final CounterQueues counters;
  private volatile Duration certainFor = Duration.ofDays(1);
  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable LossReason> ended = new AtomicReference<>();

  /** What ends with the session. */
  @FunctionalInterface
  public interface Member {
    /** The session ended; must not block. */
    void sessionEnded(LossReason reason);
  }

  Session(
      Connection connection,
      Connector connector,
      Executor background,
      ThreadFactory threads,
      Duration callTimeout,
      Ticker ticker) {
    this.connection = connection;
    this.threads = threads;
    this.callTimeout = callTimeout;
    watchThread = new ScheduledThreadPoolExecutor(1, threads);
    holder = new QuestionChannels(connection, background, ticker);
    holders = new HolderQueues(holder, callTimeout, background);
    slots = new SlotQueues(holder);
    DeliveryChannels channels = new DeliveryChannels(connection, holder, background);
    consumers = new HolderConsumers(holder, channels);
    tokens = new TokenQueues(channels, server());
    revocations = new RevocationWatch(connection, watchThread);
    prober = new PublishingConnection(connector, "prober");
    announcer = new PublishingConnection(connector, "announcer");
    side = new SideConnection(connector, background, callTimeout, ticker);
    wakes = new WakeQueues(side, announcer, background, callTimeout);
    counters = new CounterQueues(side, connector, callTimeout);
    connection.addShutdownListener(
        cause -> end(new LossReason(Cause.SESSION_ENDED, BrokerErrors.text(cause))));
  }

  /** The exclusive queues of this session. */
  public HolderQueues holders() {
    return holders;
  }

  /** The durable queues of slots, as this session sees them. */
  public SlotQueues slots() {
    return slots;
  }

  /** The exclusive consumers of this session. */
  public HolderConsumers consumers() {
    return consumers;
  }

  /** The tokens that this session holds. */
  public TokenQueues tokens() {
    return tokens;
  }

  /** How those who wait are told. */
  public WakeQueues wakes() {
    return wakes;
  }

  /** Tells of exclusive queues that were deleted under their holder. */
  public RevocationWatch revocations() {
    return revocations;
  }

  /** The connection for publishing. */
  public PublishingConnection prober() {
    return prober;
  }

  /** The server, as it introduced itself. */
  public Server server() {
    return Server.of(connection.getServerProperties());
  }

  /** The counters that fencing tokens are drawn from. */
  public CounterQueues counters() {
    return counters;
  }

  /** The heartbeat that client and broker agreed on. */
  public Duration heartbeat() {
    return Duration.ofSeconds(connection.getHeartbeat());
  }

  /** How long a silence leases are certain for, whatever the heartbeat; to be set before there are any. */
  public void certainFor(Duration longestSilence) {
    certainFor = longestSilence;
  }

  /** The same; far longer than any heartbeat unless it was set. */
  public Duration certainFor() {
    return certainFor;
  }

  /**
   * Asks for a sign of life by what costs the broker least: no queue and no other process than the
   * channel's is concerned.
   *
   * @return NONE if there was none in time, or the last one is overdue
   */
  public Answer hear(Call call) {
    return holder.askUnlessOverdue(
        call, "say that it hears us", new Basic.Qos.Builder().prefetchCount(1).build(), "");
  }

  /** How long ago the newest request was sent that the broker has answered. */
  public long silentNanos() {
    return holder.silentNanos();
  }

  /** Whether it has not ended, as far as this process knows; if it just did, this is the end of it. */
  public boolean isOpen() {
    if (ended.get() == null && !connection.isOpen()) {
      // Its listeners hear of that only when the socket is done with.
      end(new LossReason(Cause.SESSION_ENDED, BrokerErrors.text(connection.getCloseReason())));
    }
    return ended.get() == null;
  }

  /** Calls the member once when the session ends, or now if it has. */
  public void join(Member member) {
    members.add(member);
    LossReason reason = ended.get();
    if (reason != null) {
      tell(member, reason);
    }
  }

  /** Tells the member no more. */
  public void leave(Member member) {
    members.remove(member);
  }

  /** Ends the session: all its leases are lost, and its connections are dropped. Does not block. */
  public void end(LossReason reason) {
    if (finish(reason)) {
      // A thread of its own: a pool may be full, or shut down already.
      threads.newThread(this::drop).start();
    }
  }

  /** Ends the session as the last act of an orderly close, and returns when it is closed. */
  void close() {
    if (finish(new LossReason(Cause.SESSION_ENDED, "closed by this process"))) {
      drop();
    }
  }

  private boolean finish(LossReason reason) {
    if (!ended.compareAndSet(null, reason)) {
      return false;
    }
    log.info("Session with RabbitMQ ended: {}", reason);
    members.forEach(member -> tell(member, reason));
    return true;
  }

  private void tell(Member member, LossReason reason) {
    if (members.remove(member)) {
      member.sessionEnded(reason);
    }
  }

  private void drop() {
    // What is queued there runs still, and fails at once.
    watchThread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    watchThread.shutdown();
    connection.abort(Math.toIntExact(callTimeout.toMillis()));
    prober.close();
    announcer.close();
    side.close();
  }
}
