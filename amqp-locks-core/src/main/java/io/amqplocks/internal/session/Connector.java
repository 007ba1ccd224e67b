package io.amqplocks.internal.session;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.NoOpMetricsCollector;
import com.rabbitmq.client.SocketConfigurator;
import com.rabbitmq.client.SslEngineConfigurator;
import com.rabbitmq.client.TrafficListener;
import com.rabbitmq.client.impl.DefaultExceptionHandler;
import com.rabbitmq.client.observation.ObservationCollector;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the named connections of one {@code AmqpLocks}, from a copy of the user's factory. Of that the
 * copy keeps what says where the broker is and who we are: addresses, virtual host, credentials and their
 * refreshing, TLS, SASL, sockets, client properties, and the bounds on channels and frames. It shares no
 * thread with the application and calls none of its code once a connection is open: a listener that blocks
 * there must not delay the word that a lease is lost. So it always reads by a thread of its own for each
 * connection, also where the application has its I/O loops shared (NIO, Netty).
 */
public final class Connector {

  /** The most that any broker takes: RabbitMQ's {@code max_message_size} cannot be more. */
  private static final int LONGEST_MESSAGE = 512 << 20;

  private static final Logger log = LoggerFactory.getLogger(Connector.class);

  /** As much of the call timeout as one of several addresses may take that do not even refuse. */
  private static final int SHORTEST_CONNECT_MILLIS = 1000;

  private final ConnectionFactory factory;
  private final List<Address> addresses;
  private final String name;
  private final ThreadFactory threads;
  private final Duration callTimeout;

  /**
   * Copies the factory and sets in the copy what the protocol relies on.
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
    // The client would declare a lost exclusive queue again, behind our back (trap 6).
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
    // Or a stranger's message, if it is longer, would end the connection of whoever receives it.
    factory.setMaxInboundMessageBodySize(LONGEST_MESSAGE);
    shareNothing(factory, threads);
    this.addresses = List.copyOf(addresses);
    this.name = name;
    this.threads = threads;
    this.callTimeout = callTimeout;
  }

  private static void shareNothing(ConnectionFactory factory, ThreadFactory threads) {
    factory.setSocketConfigurator(factory.getSocketConfigurator().andThen(hostCheckOfNio(factory)));
    useBlockingIo(factory);
    factory.setSharedExecutor(null);
    factory.setShutdownExecutor(null);
    factory.setHeartbeatExecutor(null);
    factory.setTopologyRecoveryExecutor(null);
    factory.setThreadFactory(threads);
    factory.setExceptionHandler(new DefaultExceptionHandler());
    factory.setTrafficListener(TrafficListener.NO_OP);
    factory.setErrorOnWriteListener(null);
    factory.setWorkPoolTimeout(ConnectionFactory.DEFAULT_WORK_POOL_TIMEOUT);
    // Probes for slots are no messages of the application's.
    factory.setMetricsCollector(new NoOpMetricsCollector());
    factory.setObservationCollector(ObservationCollector.NO_OP);
    factory.setClientProperties(new HashMap<>(factory.getClientProperties()));
  }

  /** By its name, since it returns nothing in some versions of the client and the factory in others. */
  private static void useBlockingIo(ConnectionFactory factory) {
    try {
      Object unused = ConnectionFactory.class.getMethod("useBlockingIo").invoke(factory);
    } catch (NoSuchMethodException e) {
      log.debug("This version of the client knows no other than blocking I/O");
    } catch (ReflectiveOperationException e) {
      throw new LockException.Invalid(
          "The connection factory cannot be used with blocking I/O: " + e.getCause());
    }
  }

  /** Whoever had hosts checked for NIO alone, has them checked still. */
  @SuppressWarnings({"deprecation", "removal"})
  private static SocketConfigurator hostCheckOfNio(ConnectionFactory factory) {
    SslEngineConfigurator nio = factory.getNioParams().getSslEngineConfigurator();
    return socket -> {
      if (nio != null && socket instanceof SSLSocket tls) {
        SSLEngine engine = engine();
        nio.configure(engine);
        String check = engine.getSSLParameters().getEndpointIdentificationAlgorithm();
        if (check != null) {
          SSLParameters parameters = tls.getSSLParameters();
          parameters.setEndpointIdentificationAlgorithm(check);
          tls.setSSLParameters(parameters);
        }
      }
    };
  }

  private static SSLEngine engine() throws IOException {
    try {
      return SSLContext.getDefault().createSSLEngine();
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("this Java has no TLS", e);
    }
  }

  /** One connection, channel or the like that all share. */
  <T> SingleFlight<T> single(Predicate<T> usable, Consumer<T> disposal) {
    return single(usable, disposal, this::failure);
  }

  /** The same, with words of its own for what fails. */
  <T> SingleFlight<T> single(
      Predicate<T> usable,
      Consumer<T> disposal,
      BiFunction<Call, Exception, LockException> translation) {
    return new SingleFlight<>(usable, disposal, translation, threads, callTimeout);
  }

  /** Ends a connection at once, and waits for its end no longer than a call does. Never throws. */
  void drop(Connection connection) {
    connection.abort(Math.toIntExact(callTimeout.toMillis()));
  }

  /**
   * Opens a connection; what this throws is for {@link #failure} to translate.
   *
   * @param role what it is for; part of the name that an operator sees at the broker
   */
  Connection open(String role) throws IOException, TimeoutException {
    Connection connection = factory.newConnection(addresses, name + " " + role);
    if (connection.getHeartbeat() == 0) {
      drop(connection);
      throw new IOException(
          "the broker turned heartbeats off, and without them nobody would notice a dead holder");
    }
    return connection;
  }

  /** Where our queues are. */
  String virtualHost() {
    return factory.getVirtualHost();
  }

  /** What a caller is told when no connection could be opened. */
  LockException failure(Call call, Exception failure) {
    return failure instanceof LockException ours
        ? ours
        : BrokerErrors.connecting(call, target(), failure);
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
