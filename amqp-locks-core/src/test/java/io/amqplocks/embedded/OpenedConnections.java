package io.amqplocks.embedded;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;

/** Keeps the connections that it opened, also as a copy of its own: nobody else can see them. */
final class OpenedConnections extends ConnectionFactory {

  private final Queue<Connection> all = new ConcurrentLinkedQueue<>();

  OpenedConnections(Broker broker) throws Exception {
    setUri(broker.uri());
  }

  @Override
  public Connection newConnection(List<Address> addresses, String name)
      throws IOException, TimeoutException {
    Connection connection = super.newConnection(addresses, name);
    all.add(connection);
    return connection;
  }

  List<Connection> all() {
    return List.copyOf(all);
  }

  /** The open ones that each hold one lease. */
  List<Connection> ofOneLease() {
    return all.stream().filter(Connection::isOpen).filter(OpenedConnections::isOfOneLease).toList();
  }

  static boolean isOfOneLease(Connection connection) {
    return connection.getClientProvidedName().endsWith(" lease holder");
  }

  /** How many the broker closed because the exclusive queue was another one's. */
  long lostRaces() {
    return all.stream()
        .filter(each -> !each.isOpen())
        .filter(
            each ->
                String.valueOf(each.getCloseReason()).contains("reply-code=530, reply-text=Queue "))
        .count();
  }
}
