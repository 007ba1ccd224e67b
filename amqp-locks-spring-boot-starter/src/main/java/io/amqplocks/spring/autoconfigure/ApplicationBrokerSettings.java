package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.LockConfigurationException;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

/**
 * Finds out how the application itself reaches its broker: from the connection factory bean that
 * the property {@code amqp-locks.connection-factory} names, by its name or its qualifier, or else
 * from the only one, or the primary one. So the locks have all that made that bean: SSL bundles,
 * addresses, connection details, credentials and customizers.
 */
final class ApplicationBrokerSettings {

  private static final String OWN =
      "define a bean of type AmqpLocks or " + BrokerSettings.class.getName();

  private static final String OFF = "set amqp-locks.enabled=false.";

  private ApplicationBrokerSettings() {}

  static BrokerSettings of(ListableBeanFactory beans, @Nullable String wanted) {
    ConnectionFactory factory =
        wanted == null || wanted.isBlank() ? theOnlyOne(beans) : named(beans, wanted);
    if (!(target(factory) instanceof AbstractConnectionFactory springs)) {
      throw new LockConfigurationException(
          "The locks cannot read the settings of a connection factory of type %s."
              .formatted(factory.getClass().getName()),
          "Name another one by amqp-locks.connection-factory, %s, or %s".formatted(OWN, OFF));
    }
    return new BrokerSettings(springs.getRabbitConnectionFactory(), addresses(springs));
  }

  /** What is behind proxies, such as those of tools for tracing: they hide the settings. */
  private static Object target(Object factory) {
    Object target = AopProxyUtils.getSingletonTarget(factory);
    return target == null ? factory : target(target);
  }

  private static ConnectionFactory theOnlyOne(ListableBeanFactory beans) {
    ConnectionFactory factory = beans.getBeanProvider(ConnectionFactory.class).getIfUnique();
    if (factory != null) {
      return factory;
    }
    List<String> names = names(beans);
    if (names.isEmpty()) {
      throw new LockConfigurationException(
          "The locks have no RabbitMQ to use: there is no bean of type %s."
              .formatted(ConnectionFactory.class.getName()),
          "Add what configures one: spring-boot-starter-amqp with Spring Boot 4.0 and 4.1,"
              + " spring-boot-starter-rabbitmq with 4.2 and newer. Or %s, or %s"
                  .formatted(OWN, OFF));
    }
    throw new LockConfigurationException(
        "The locks do not know which RabbitMQ to use: there are several beans of type %s, %s, and none is primary."
            .formatted(ConnectionFactory.class.getName(), String.join(", ", names)),
        "Say which by amqp-locks.connection-factory=%s, mark one as @Primary, %s, or %s"
            .formatted(names.get(0), OWN, OFF));
  }

  private static ConnectionFactory named(ListableBeanFactory beans, String wanted) {
    try {
      return BeanFactoryAnnotationUtils.qualifiedBeanOfType(
          (BeanFactory) beans, ConnectionFactory.class, wanted);
    } catch (NoSuchBeanDefinitionException e) {
      // Not as the cause: Boot's own analysis would be shown, which speaks of injection.
      List<String> names = names(beans);
      throw new LockConfigurationException(
          "amqp-locks.connection-factory is '%s', and no single bean of type %s has that name or qualifier."
              .formatted(wanted, ConnectionFactory.class.getName()),
          names.isEmpty()
              ? "There is none of that type at all."
              : "Name one of these: %s.".formatted(String.join(", ", names)));
    }
  }

  private static List<String> names(ListableBeanFactory beans) {
    return List.of(beans.getBeanNamesForType(ConnectionFactory.class, true, false));
  }

  private static List<Address> addresses(AbstractConnectionFactory factory) {
    try {
      return ApplicationAddresses.of(factory);
    } catch (InvocationTargetException e) {
      throw new LockConfigurationException(
          "The locks do not know which RabbitMQ to use: the addresses of the application's"
              + " connection factory cannot be resolved: %s.".formatted(e.getTargetException()),
          "See to its address resolver, %s, or %s".formatted(OWN, OFF),
          e.getTargetException());
    } catch (ReflectiveOperationException e) {
      throw new LockConfigurationException(
          "The locks do not know which RabbitMQ to use: the addresses of the application's"
              + " connection factory cannot be read: %s.".formatted(e),
          "%s, or %s".formatted(OWN, OFF),
          e);
    }
  }
}
