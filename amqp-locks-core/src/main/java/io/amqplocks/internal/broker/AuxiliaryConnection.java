package io.amqplocks.internal.broker;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of a session that holds nothing, so that it may break, or be blocked by an alarm,
 * without harm to any lease. It is opened at first use, and again after it broke. It is closed when
 * it was not used for a minute ({@link #closeIfIdle}).
 *
 * <p>Concurrency: an idle life is retired first, so that the next user opens another one. A later
 * look closes it. A caller that was given it just before it was retired has ended by then: a call
 * is bounded by the call timeout, and a consumer lends a channel, which is looked at again.
 *
 * <p>A session has one for each of three purposes. The one for requests never publishes, so no
 * alarm stops it. In a part of a cluster without a majority, RabbitMQ replies to a declare, and to
 * a get from a quorum queue, by closing the connection (541, trap 7). One publishes probes, and one
 * notifies waiters: an alarm of the broker stops a connection that publishes.
 */
public final class AuxiliaryConnection {

  private static final Logger log = LoggerFactory.getLogger(AuxiliaryConnection.class);

  /** How long a connection stays open that nobody uses. */
  public static final Duration LONGEST_IDLE = Duration.ofMinutes(1);

  private final Connector connector;
  private final String role;
  private final BrokerProfile broker;
  private final Executor background;
  private final Ticker ticker;
  private final SingleFlight<Life> current;
  private final Queue<Retired> retired = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Boolean> used = new CompletableFuture<>();
  private volatile long lastUse;
  private volatile boolean closed;

  /** A life that nobody is given any more. */
  private record Retired(Life life, long since) {}

  /**
   * Opens nothing yet.
   *
   * @param role what the connection is for; part of the name that an operator sees at the broker
   * @param broker what the broker at its other end can do
   */
  public AuxiliaryConnection(
      Connector connector, String role, BrokerProfile broker, Executor background, Ticker ticker) {
    this.connector = connector;
    this.role = role;
    this.broker = broker;
    this.background = background;
    this.ticker = ticker;
    current =
        connector.single(life -> life.connection.isOpen(), life -> connector.drop(life.connection));
  }

  /** One life of the connection, with its channels, and the broker's last notification about it. */
  public static final class Life implements BlockedListener {
    private final Connection connection;
    private final RpcChannelPool rpc;
    private final ConsumerChannelPool consumerChannels;
    private volatile CompletableFuture<String> blocked = new CompletableFuture<>();

    private Life(Connection connection, Executor background, Ticker ticker) {
      this.connection = connection;
      rpc = new RpcChannelPool(connection, background, ticker);
      consumerChannels = new ConsumerChannelPool(connection, rpc, background);
      connection.addBlockedListener(this);
    }

    /** The connection. */
    public Connection connection() {
      return connection;
    }

    /** Its channels for one request at a time. */
    public RpcChannelPool rpc() {
      return rpc;
    }

    /** Its channels for one consumer each. */
    public ConsumerChannelPool consumerChannels() {
      return consumerChannels;
    }

    @Override
    public void handleBlocked(String reason) {
      blocked.complete(reason);
    }

    @Override
    public void handleUnblocked() {
      blocked = new CompletableFuture<>();
    }
  }

  /** The connection as it is now, opened if need be. */
  public Life open(Call call) {
    try {
      return life(call);
    } catch (SharedFailure e) {
      throw e.to(call);
    }
  }

  private Life life(Call call) throws SharedFailure {
    keepOpen();
    try {
      Life life = current.open(call, () -> new Life(connector.open(role), background, ticker));
      keepOpen();
      requireNotClosed();
      return life;
    } catch (SharedFailure e) {
      requireNotClosed();
      throw e;
    }
  }

  /** What the broker at the other end of the connection can do. */
  public BrokerProfile broker() {
    return broker;
  }

  private void requireNotClosed() throws SharedFailure {
    if (closed) {
      throw new SharedFailure(
          call ->
              new LockException.Unreachable(
                  "The session ended while its %s connection was needed for %s"
                      .formatted(role, call.purpose()),
                  null));
    }
  }

  /** Opens a new channel. */
  public Channel openChannel(Call call) {
    try {
      return newChannel(call);
    } catch (SharedFailure e) {
      throw e.to(call);
    }
  }

  private Channel newChannel(Call call) throws SharedFailure {
    Life life = life(call);
    try {
      Channel channel = life.connection.createChannel();
      if (channel == null) {
        throw new SharedFailure(
            each -> each.noChannel("open a channel of the " + role + " connection"));
      }
      used.complete(true);
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw new SharedFailure(each -> BrokerErrors.calling(each, "open a channel", e));
    }
  }

  /** A channel on which several threads publish in turns. */
  public SingleFlight<Channel> shared() {
    return connector.single(
        // The channel of a connection that is about to be closed is open, and no alarm is known
        // there.
        channel -> channel.isOpen() && isPresent(channel),
        channel -> log.debug("{} goes with its connection", channel),
        (call, failure) -> BrokerErrors.calling(call, "open a channel", failure));
  }

  /**
   * Opens a {@link #shared} channel. It is for all that wait for it meanwhile, so it has the time
   * of a whole call, however little the first of them has left.
   */
  public Channel openShared() throws SharedFailure {
    return newChannel(Call.onAll(connector.callTimeout(), ticker));
  }

  /**
   * Completed when the first channel is opened, on the user's thread. Dependent actions must
   * therefore run on another thread.
   */
  public CompletableFuture<Boolean> used() {
    return used;
  }

  /** Records that a caller uses a channel that it has kept. */
  public void keepOpen() {
    lastUse = ticker.nanos();
  }

  /**
   * Closes the connection if nobody used it for a minute, no consumer needs it, and no alarm blocks
   * it. To be called now and then. May wait for one call timeout.
   */
  public void closeIfIdle() {
    retired.removeIf(this::isClosed);
    Life life = current.ifOpen().orElse(null);
    if (life != null
        && ticker.nanos() - lastUse >= LONGEST_IDLE.toNanos()
        && !life.consumerChannels.isLent()
        && !life.blocked.isDone()
        && current.retire(life)) {
      retired.add(new Retired(life, ticker.nanos()));
      if (closed) {
        // The close may have looked before it was there.
        dropRetired();
      }
    }
  }

  private boolean isClosed(Retired each) {
    long longestCall = Math.max(LONGEST_IDLE.toNanos(), connector.callTimeout().toNanos());
    if (ticker.nanos() - each.since < longestCall || each.life.consumerChannels.isLent()) {
      return false;
    }
    connector.drop(each.life.connection);
    return true;
  }

  /** Whether the channel belongs to the present life of the connection, which is then kept open. */
  public boolean carries(Channel channel) {
    keepOpen();
    return isPresent(channel);
  }

  private boolean isPresent(Channel channel) {
    return current
        .ifOpen()
        .filter(life -> life.connection.equals(channel.getConnection()))
        .isPresent();
  }

  /**
   * Completed with the reason while an alarm of the broker prevents this connection from
   * publishing.
   */
  public CompletableFuture<String> blocked() {
    return current.ifOpen().map(life -> life.blocked).orElseGet(CompletableFuture::new);
  }

  /**
   * Closes the connection. The close is bounded even during an alarm, when the broker does not read
   * what this connection sends.
   */
  public void close() {
    closed = true;
    current.close();
    dropRetired();
  }

  private void dropRetired() {
    for (Retired each = retired.poll(); each != null; each = retired.poll()) {
      connector.drop(each.life.connection);
    }
  }
}
