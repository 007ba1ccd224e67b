package io.amqplocks.internal.broker;

import com.rabbitmq.client.ConnectionFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * What a client says that it understands. Without it the broker says neither that it ended a
 * consumer, nor that an alarm stops publishers, nor that it refuses the user.
 *
 * @see <a href="https://www.rabbitmq.com/docs/consumer-cancel">Consumer Cancel Notification</a>
 */
public final class ClientCapabilities {

  private static final String KEY = "capabilities";

  private ClientCapabilities() {}

  /**
   * Has the connections of that factory say what the client library says by default. An application
   * that replaces all client properties drops it. Its other properties stay as they are.
   */
  public static void restore(ConnectionFactory factory) {
    Map<String, Object> properties = new HashMap<>(factory.getClientProperties());
    properties.put(KEY, new ConnectionFactory().getClientProperties().get(KEY));
    factory.setClientProperties(properties);
  }
}
