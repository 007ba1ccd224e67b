package io.amqplocks.lines.woven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.UUID;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The application's start would fail if nothing were woven. */
@Tag("one-jdk")
@BrokerTest
class MavenWeavingTest {

  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";

  @Test
  void theClassesThatMavenWoveAreGuarded(Broker broker) {
    ConnectionFactory settings = broker.connectionFactory();
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(WovenApplication.class)
            .run(
                "--spring.rabbitmq.host=" + broker.host(),
                "--spring.rabbitmq.port=" + broker.port(),
                "--spring.rabbitmq.username=" + settings.getUsername(),
                "--spring.rabbitmq.password=" + settings.getPassword(),
                "--spring.rabbitmq.virtual-host=" + settings.getVirtualHost(),
                "--amqp-locks.queue-prefix=" + prefix,
                "--amqp-locks.annotations.mode=aspectj")) {
      AmqpLocks locks = context.getBean(AmqpLocks.class);
      IntSupplier slotsInUse = () -> locks.admin().tokenSemaphore("images").inUse();
      assertThat(context.getBean(Uploads.class).uploadAll(slotsInUse)).isOne();
      assertThat(new Uploads().uploadAll(slotsInUse)).isOne();
      // A release does not wait for the broker.
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(slotsInUse.getAsInt()).isZero());
    } finally {
      broker.faults().queues().stream()
          .map(BrokerQueue::name)
          .filter(queue -> queue.startsWith(prefix))
          .forEach(broker.faults()::deleteQueue);
    }
  }
}
