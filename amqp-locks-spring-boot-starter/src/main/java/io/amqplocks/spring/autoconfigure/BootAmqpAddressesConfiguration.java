package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.Address;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** For Boot 4.0 and 4.1: the only class that links to a package which moved in 4.2. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RabbitConnectionDetails.class)
class BootAmqpAddressesConfiguration {

  @Bean
  BrokerAddresses amqpLocksBrokerAddresses(ObjectProvider<RabbitConnectionDetails> details) {
    return () -> {
      RabbitConnectionDetails unique = details.getIfUnique();
      return unique == null
          ? List.of()
          : unique.getAddresses().stream().map(a -> new Address(a.host(), a.port())).toList();
    };
  }
}
