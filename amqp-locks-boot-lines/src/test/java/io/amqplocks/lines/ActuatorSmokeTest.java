package io.amqplocks.lines;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LockTemplate;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/** What the starter adds to Actuator, over the connection factory that Boot configures. */
@Tag("one-jdk")
@BrokerTest
class ActuatorSmokeTest {

  @Test
  void healthAndMeters(Broker broker) {
    try (LineApplication application = new LineApplication(broker)) {
      assertThat(application.context().getBeanNamesForType(ConnectionFactory.class))
          .containsExactly("rabbitConnectionFactory");
      application.bean(LockTemplate.class).semaphore("images").execute(() -> {});
      Health health =
          Objects.requireNonNull(
              application
                  .context()
                  .getBean("amqplocksHealthIndicator", HealthIndicator.class)
                  .health(true));
      assertThat(health.getStatus()).isEqualTo(Status.UP);
      MeterRegistry meters = application.bean(MeterRegistry.class);
      assertThat(meters.get("amqp.locks.slots").gauge().value()).isEqualTo(2);
    }
  }
}
