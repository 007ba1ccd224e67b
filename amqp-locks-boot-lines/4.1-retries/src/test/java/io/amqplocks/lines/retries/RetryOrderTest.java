package io.amqplocks.lines.retries;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lines.retries.RetryingApplication.Reports;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** SPRING.md says by which order the attempts of one call have one lease, and how to change it. */
@Tag("one-jdk")
@BrokerTest
class RetryOrderTest {

  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";
  private final Broker broker;

  RetryOrderTest(Broker broker) {
    this.broker = broker;
  }

  static List<Named<Function<Reports, String>>> libraries() {
    return List.of(
        Named.of("spring-retry", reports -> reports.bySpringRetry(null)),
        Named.of("Resilience4j", reports -> reports.byResilience4j(null)),
        Named.of("Resilience4j, a future", reports -> reports.laterByResilience4j(null).join()),
        Named.of("all of Resilience4j", reports -> reports.byAllOfResilience4j(null)));
  }

  @ParameterizedTest
  @MethodSource("libraries")
  void allAttemptsOfACallHaveOneLease(Function<Reports, String> call) {
    assertThat(leasesOfThreeAttempts(call)).isOne();
  }

  @Test
  void anAspectOfAnEarlierOrderIsOutside() {
    assertThat(
            leasesOfThreeAttempts(
                reports -> reports.byResilience4j(null), "resilience4j.retry.retry-aspect-order=1"))
        .isEqualTo(3);
  }

  private long leasesOfThreeAttempts(Function<Reports, String> call, String... settings) {
    ConnectionFactory factory = broker.connectionFactory();
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(RetryingApplication.class)
            .properties(settings)
            .run(
                "--spring.rabbitmq.host=" + broker.host(),
                "--spring.rabbitmq.port=" + broker.port(),
                "--spring.rabbitmq.username=" + factory.getUsername(),
                "--spring.rabbitmq.password=" + factory.getPassword(),
                "--spring.rabbitmq.virtual-host=" + factory.getVirtualHost(),
                "--amqp-locks.queue-prefix=" + prefix,
                "--resilience4j.retry.instances.reports.wait-duration=1ms")) {
      Reports reports = context.getBean(Reports.class);
      assertThat(call.apply(reports)).isEqualTo("done");
      assertThat(reports.leases()).hasSize(3);
      assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
      return reports.leases().stream().distinct().count();
    } finally {
      broker.faults().queues().stream()
          .map(BrokerQueue::name)
          .filter(queue -> queue.startsWith(prefix))
          .forEach(broker.faults()::deleteQueue);
    }
  }
}
