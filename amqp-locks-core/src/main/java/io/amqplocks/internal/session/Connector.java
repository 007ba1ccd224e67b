package io.amqplocks.internal.session;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.NoOpMetricsCollector;
import com.rabbitmq.client.observation.ObservationCollector;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Opens the named connections of one {@code AmqpLocks}, from a copy of the user's factory. */
public final class Connector {

  /** The most that any broker takes: RabbitMQ's {@code max_message_size} cannot be more. */
  private static final int LONGEST_MESSAGE = 512 << 20;

  private final ConnectionFactory factory;
  private final List<Address> addresses;
  private final String name;

  /**
   * Copies the factory and sets in the copy what the protocol relies on.
   *
   * @param heartbeat whole seconds, at least one
   * @param callTimeout the bound on connecting to one address as well
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
    factory.setConnectionTimeout(timeoutMillis);
    factory.setHandshakeTimeout(timeoutMillis);
    factory.setShutdownTimeout(timeoutMillis);
    // Or a stranger's message, if it is longer, would end the connection of whoever receives it.
    factory.setMaxInboundMessageBodySize(LONGEST_MESSAGE);
    // A busy executor of the application must not delay the word that a lease is lost.
    factory.setSharedExecutor(null);
    factory.setShutdownExecutor(null);
    factory.setThreadFactory(threads);
    // Probes for slots are no messages of the application's.
    factory.setMetricsCollector(new NoOpMetricsCollector());
    factory.setObservationCollector(ObservationCollector.NO_OP);
    this.addresses = List.copyOf(addresses);
    this.name = name;
  }

  /**
   * Opens a connection; what this throws is for {@link #failure} to translate.
   *
   * @param role what it is for; part of the name that an operator sees at the broker
   */
  Connection open(String role) throws IOException, TimeoutException {
    Connection connection = factory.newConnection(addresses, name + " " + role);
    if (connection.getHeartbeat() == 0) {
      connection.abort(factory.getChannelRpcTimeout());
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
