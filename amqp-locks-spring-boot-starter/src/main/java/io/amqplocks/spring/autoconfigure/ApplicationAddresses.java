package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;

/**
 * Where a connection factory of Spring's connects to: what its addresses or its address resolver
 * say, else its host and port. Addresses are not in its public methods, and to leave them out would
 * send the locks to another broker, as a factory with addresses has this machine for its host. So
 * its protected {@code getAddresses()} is called, which is the same for Boot's factory and for one
 * of the application's own.
 */
final class ApplicationAddresses {

  private ApplicationAddresses() {}

  /**
   * The addresses, in the factory's order; an address resolver is asked once, now.
   *
   * @throws ReflectiveOperationException if the factory cannot be asked
   * @throws InvocationTargetException if it fails to answer, as an address resolver may
   */
  static List<Address> of(AbstractConnectionFactory factory) throws ReflectiveOperationException {
    Method getter = AbstractConnectionFactory.class.getDeclaredMethod("getAddresses");
    if (!getter.trySetAccessible()) {
      throw new IllegalAccessException(getter + " is not open to reflection");
    }
    return addresses(factory, getter.invoke(factory));
  }

  private static List<Address> addresses(
      AbstractConnectionFactory factory, @Nullable Object configured) {
    if (configured instanceof List<?> list && !list.isEmpty()) {
      return list.stream().map(Address.class::cast).toList();
    }
    return List.of(new Address(factory.getHost(), factory.getPort()));
  }
}
