package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import io.amqplocks.spring.BrokerSettings;
import java.util.List;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.beans.factory.ObjectProvider;

/** Finds out how the application itself reaches its broker. */
final class ApplicationBrokerSettings {

  private static final String REMEDY =
      " Define a bean of type AmqpLocks or io.amqplocks.spring.BrokerSettings, or set"
          + " amqp-locks.enabled=false.";

  private ApplicationBrokerSettings() {}

  static BrokerSettings of(
      ObjectProvider<ConnectionFactory> factories, List<Address> configuredAddresses) {
    ConnectionFactory factory = factories.getIfUnique();
    if (factory == null) {
      throw new IllegalStateException(
          factories.stream().findAny().isPresent()
              ? "The locks do not know which RabbitMQ to use: there are several beans of type "
                  + ConnectionFactory.class.getName()
                  + " and none is primary."
                  + REMEDY
              : "The locks have no RabbitMQ to use: there is no bean of type "
                  + ConnectionFactory.class.getName()
                  + ", as spring-boot-starter-amqp would configure it."
                  + REMEDY);
    }
    if (!(factory instanceof AbstractConnectionFactory springs)) {
      throw new IllegalStateException(
          "The locks cannot read the settings of a connection factory of type "
              + factory.getClass().getName()
              + "."
              + REMEDY);
    }
    com.rabbitmq.client.ConnectionFactory client = springs.getRabbitConnectionFactory();
    return new BrokerSettings(client, addresses(client, configuredAddresses));
  }

  /**
   * The configured addresses, if the factory was made from them: then the first one is the
   * factory's own. Somebody may have defined a connection factory to another broker than the one
   * configured.
   */
  private static List<Address> addresses(
      com.rabbitmq.client.ConnectionFactory client, List<Address> configured) {
    Address own = new Address(client.getHost(), client.getPort());
    return !configured.isEmpty() && configured.get(0).equals(own) ? configured : List.of(own);
  }
}
