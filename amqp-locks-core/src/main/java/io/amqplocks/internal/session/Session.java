package io.amqplocks.internal.session;

import com.rabbitmq.client.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
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
  private final Executor background;
  private final ExecutorService watchThread;
  private final HolderQueues holders;
  private final SlotQueues slots;
  private final RevocationWatch revocations;
  private final ProberConnection prober;
  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable String> ended = new AtomicReference<>();

  /** What ends with the session. */
  @FunctionalInterface
  public interface Member {
    /** The session ended; must not block. */
    void sessionEnded(String why);
  }

  Session(
      Connection connection,
      Connector connector,
      Executor background,
      ExecutorService watchThread,
      Duration callTimeout) {
    this.connection = connection;
    this.background = background;
    this.watchThread = watchThread;
    HolderConnection holder = new HolderConnection(connection, background);
    holders = new HolderQueues(holder, callTimeout, background);
    slots = new SlotQueues(holder);
    revocations = new RevocationWatch(connection, watchThread);
    prober = new ProberConnection(connector, background);
    connection.addShutdownListener(cause -> end(BrokerErrors.text(cause)));
  }

  /** The exclusive queues of this session. */
  public HolderQueues holders() {
    return holders;
  }

  /** The durable queues of slots, as this session sees them. */
  public SlotQueues slots() {
    return slots;
  }

  /** Tells of exclusive queues that were deleted under their holder. */
  public RevocationWatch revocations() {
    return revocations;
  }

  /** The connection for publishing. */
  public ProberConnection prober() {
    return prober;
  }

  /** The heartbeat that client and broker agreed on. */
  public Duration heartbeat() {
    return Duration.ofSeconds(connection.getHeartbeat());
  }

  /** Whether it has not ended yet, as far as this process knows. */
  public boolean isOpen() {
    return ended.get() == null;
  }

  /** Calls the member once when the session ends, or now if it has. It must not block. */
  public void join(Member member) {
    members.add(member);
    String why = ended.get();
    if (why != null) {
      tell(member, why);
    }
  }

  /** Tells the member no more. */
  public void leave(Member member) {
    members.remove(member);
  }

  /** Ends the session: all its leases are lost, and its connections are dropped. Does not block. */
  public void end(String why) {
    if (finish(why)) {
      background.execute(this::drop);
    }
  }

  /** Ends the session as the last act of an orderly close, and returns when it is closed. */
  void close() {
    if (finish("closed by this process")) {
      drop();
    }
  }

  private boolean finish(String why) {
    if (!ended.compareAndSet(null, why)) {
      return false;
    }
    log.info("Session with RabbitMQ ended: {}", why);
    members.forEach(member -> tell(member, why));
    return true;
  }

  private void tell(Member member, String why) {
    if (members.remove(member)) {
      member.sessionEnded(why);
    }
  }

  private void drop() {
    watchThread.shutdownNow();
    connection.abort(Math.toIntExact(heartbeat().toMillis()));
    prober.close();
  }
}
