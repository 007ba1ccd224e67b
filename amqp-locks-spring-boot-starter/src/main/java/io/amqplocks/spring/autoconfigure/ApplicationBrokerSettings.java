package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import io.amqplocks.spring.BrokerSettings;
import java.lang.reflect.InvocationTargetException;
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

  static BrokerSettings of(ObjectProvider<ConnectionFactory> factories) {
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
    return new BrokerSettings(springs.getRabbitConnectionFactory(), addresses(springs));
  }

  private static List<Address> addresses(AbstractConnectionFactory factory) {
    try {
      return ApplicationAddresses.of(factory);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(
          "The locks do not know which RabbitMQ to use: the addresses of the application's"
              + " connection factory cannot be resolved: "
              + e.getTargetException()
              + "."
              + REMEDY,
          e.getTargetException());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "The locks do not know which RabbitMQ to use: the addresses of the application's"
              + " connection factory cannot be read: "
              + e
              + "."
              + REMEDY,
          e);
    }
  }
}
