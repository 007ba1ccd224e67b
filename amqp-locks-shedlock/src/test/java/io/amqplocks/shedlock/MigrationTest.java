package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What MIGRATION tells users to write; {@code ReadmeTest} compares the two. */
@BrokerTest
class MigrationTest {

  @Configuration(proxyBeanMethods = false)
  static class Locks {
    @Bean(destroyMethod = "close")
    AmqpLockProvider lockProvider(AmqpLocks locks, CachingConnectionFactory factory) {
      return new AmqpLockProvider(locks, factory.getRabbitConnectionFactory());
    } // was: new JdbcTemplateLockProvider(dataSource)
  }

  @Test
  void aProviderIsABean(Broker broker) throws Exception {
    String name = "job-" + UUID.randomUUID();
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(
          AmqpLocks.class, () -> AmqpLocks.builder(broker.connectionFactory()).build());
      context.registerBean(
          CachingConnectionFactory.class,
          () -> new CachingConnectionFactory(broker.connectionFactory()));
      context.register(Locks.class);
      context.refresh();
      SimpleLock lock =
          context
              .getBean(LockProvider.class)
              .lock(
                  new LockConfiguration(
                      Instant.now(), name, Duration.ofMinutes(5), Duration.ofMillis(1)))
              .orElseThrow();
      assertThat(context.getBean(AmqpLocks.class).leases()).hasSize(1);
      lock.unlock();
    } finally {
      try (Connection stranger = broker.connectionFactory().newConnection()) {
        stranger.createChannel().queueDelete("amqp-locks.shedlock." + name);
      }
    }
  }
}
