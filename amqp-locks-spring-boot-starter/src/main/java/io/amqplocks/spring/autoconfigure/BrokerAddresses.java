package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import java.util.List;

/**
 * All addresses that the application's RabbitMQ settings name. Spring's connection factory does not
 * tell its own; Boot does, by a type whose package differs between Boot's versions.
 */
@FunctionalInterface
interface BrokerAddresses {

  /** The addresses, perhaps none. */
  List<Address> addresses();
}
