package io.amqplocks.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;

/** What MIGRATION tells users to write; {@code ReadmeTest} compares the two. */
@BrokerTest
class MigrationTest {

  @Configuration(proxyBeanMethods = false)
  static class Locks {
    @Bean
    LockRegistry<?> lockRegistry(AmqpLocks locks) { // was: new JdbcLockRegistry(lockRepository)
      return new AmqpLockRegistry(locks, "orders-app");
    }
  }

  @Test
  void aRegistryIsABean(Broker broker) throws Exception {
    String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(
          AmqpLocks.class,
          () -> AmqpLocks.builder(broker.connectionFactory()).queuePrefix(prefix).build());
      context.register(Locks.class);
      context.refresh();
      LockRegistry<?> registry = context.getBean(LockRegistry.class);
      String result = registry.executeLocked("k", () -> "locked");
      assertThat(result).isEqualTo("locked");
    }
  }
}
