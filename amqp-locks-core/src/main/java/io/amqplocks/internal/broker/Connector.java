package io.amqplocks.internal.broker;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.impl.DefaultExceptionHandler;
import com.rabbitmq.client.observation.ObservationCollector;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the named connections of one {@code AmqpLocks}, from a copy of the user's factory.
 *
 * <p>The copy keeps all settings that locate the broker and identify the client: addresses, virtual
 * host, credentials and their refresh, TLS, SASL, sockets, client properties, and the bounds on
 * channels and frames. A connection shares no thread with the application, and calls none of its
 * code once it is open, because a blocking listener of the application must not delay the
 * notification of a lost lease. So each connection has a reading thread of its own, even if the
 * application shares its I/O loops (NIO, Netty).
 */
public final class Connector {

  /** The largest message of any broker: RabbitMQ's {@code max_message_size} cannot be higher. */
  private static final int LONGEST_MESSAGE = 512 << 20;

  private static final Logger log = LoggerFactory.getLogger(Connector.class);

  /**
   * The shortest connection timeout of one address, unless the call timeout is shorter. It matters
   * for addresses that do not even refuse the connection.
   */
  private static final int SHORTEST_CONNECT_MILLIS = 1000;

  private final ConnectionFactory factory;
  private final List<Address> addresses;
  private final String name;
  private final ThreadFactory threads;
  private final Duration callTimeout;

  /**
   * Copies the factory, and sets in the copy what the protocol relies on.
   *
   * @param heartbeat whole seconds, at least one
   * @param callTimeout how long the callers wait for a connection
   */
  public Connector(
      ConnectionFactory users,
      List<Address> addresses,
      String name,
      Duration heartbeat,
      Duration callTimeout,
      ThreadFactory threads) {
    int timeoutMillis = Math.toIntExact(callTimeout.toMillis());
    factory = users.clone();
    // With recovery on, the client would declare a lost exclusive queue again, unnoticed (trap 6).
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    factory.setRequestedHeartbeat(Math.toIntExact(heartbeat.toSeconds()));
    factory.setChannelRpcTimeout(timeoutMillis);
    factory.setChannelShouldCheckRpcResponseType(true);
    factory.setConnectionTimeout(
        Math.max(
            timeoutMillis / Math.max(1, addresses.size()),
            Math.min(timeoutMillis, SHORTEST_CONNECT_MILLIS)));
    factory.setHandshakeTimeout(timeoutMillis);
    factory.setShutdownTimeout(timeoutMillis);
    // Otherwise a stranger's longer message would end the connection of its receiver.
    factory.setMaxInboundMessageBodySize(LONGEST_MESSAGE);
    shareNothing(factory, threads);
    this.addresses = List.copyOf(addresses);
    this.name = name;
    this.threads = threads;
    this.callTimeout = callTimeout;
  }

  private static void shareNothing(ConnectionFactory factory, ThreadFactory threads) {
    OwnThreads.give(factory);
    factory.setThreadFactory(threads);
    factory.setExceptionHandler(new ConnectionLoss());
    factory.setWorkPoolTimeout(ConnectionFactory.DEFAULT_WORK_POOL_TIMEOUT);
    // Not those of the application: probes for slots are not its messages.
    factory.setMetricsCollector(ConsumerChannel.ARRIVALS);
    factory.setObservationCollector(ObservationCollector.NO_OP);
    ClientCapabilities.restore(factory);
  }

  /**
   * Says nothing of a connection that broke. The client library would warn of each connection of
   * the process, in words that name neither a lock nor the broker. The session says it once.
   */
  private static final class ConnectionLoss extends DefaultExceptionHandler {
    @Override
    public void handleUnexpectedConnectionDriverException(Connection conn, Throwable exception) {
      if (exception instanceof IOException) {
        log.debug("Connection {} broke: {}", conn, exception.toString());
      } else {
        super.handleUnexpectedConnectionDriverException(conn, exception);
      }
    }
  }

  /** A connection, channel or the like that all callers share. */
  public <T> SingleFlight<T> single(Predicate<T> usable, Consumer<T> disposal) {
    return single(usable, disposal, this::failure);
  }

  /** A shared resource with its own translation of failures. */
  public <T> SingleFlight<T> single(
      Predicate<T> usable,
      Consumer<T> disposal,
      BiFunction<Call, Exception, LockException> translation) {
    return new SingleFlight<>(usable, disposal, translation, threads, callTimeout, Ticker.SYSTEM);
  }

  /**
   * Ends a connection at once, and waits for its end no longer than one call timeout. Never throws.
   */
  void drop(Connection connection) {
    connection.abort(Math.toIntExact(callTimeout.toMillis()));
  }

  /**
   * Opens a connection. {@link #failure} translates what this throws.
   *
   * @param role the purpose of the connection; part of the name that an operator sees at the broker
   */
  public Connection open(String role) throws IOException, TimeoutException {
    Connection connection = factory.newConnection(addresses, name + " " + role);
    if (connection.getHeartbeat() == 0) {
      drop(connection);
      throw new IOException(
          "the broker turned heartbeats off, and without them nobody would notice a dead holder");
    }
    return connection;
  }

  /** How long callers wait for a connection, and for an answer on it. */
  Duration callTimeout() {
    return callTimeout;
  }

  /** The virtual host of our queues. */
  public String virtualHost() {
    return factory.getVirtualHost();
  }

  /**
   * Opens a connection to administer a lock; the caller closes it. A thread of the library opens
   * it, because each of several addresses may take as long as a call.
   */
  public AdminConnection openAdministrator(Call call) {
    SingleFlight<Connection> opening = single(Connection::isOpen, this::drop);
    try {
      return new AdminConnection(opening.get(call, () -> open("administrator")), callTimeout);
    } catch (LockException e) {
      opening.close();
      throw e;
    }
  }

  /** The error for callers when no connection could be opened. */
  LockException failure(Call call, Exception failure) {
    return BrokerErrors.connecting(call, target(), failure);
  }

  private String target() {
    return addresses.stream().map(Address::toString).collect(Collectors.joining(","))
        + " (virtual host "
        + factory.getVirtualHost()
        + ", user "
        + factory.getUsername()
        + ")";
  }
}
