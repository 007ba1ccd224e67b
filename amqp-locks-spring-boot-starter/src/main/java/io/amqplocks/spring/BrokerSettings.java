package io.amqplocks.spring;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import java.util.List;

/**
 * How the locks reach the broker. By default they use the settings of the application's own
 * connections, over connections of their own. A bean of this type replaces these settings.
 *
 * @param factory credentials, virtual host, TLS and timeouts; it is copied and never changed
 * @param addresses where to connect, in the order to try; at least one
 */
public record BrokerSettings(ConnectionFactory factory, List<Address> addresses) {

  /** Checks that there is an address. */
  public BrokerSettings {
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("No address to connect to");
    }
    addresses = List.copyOf(addresses);
  }
}
