package io.amqplocks.sample.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import java.time.Duration;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.rabbitmq.RabbitMQContainer;

/** The broker comes from Docker, and Boot connects the application to it. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.NONE,
    properties = {"sample.report.cron=-", "sample.report.receiver=http://localhost:1"})
@ActiveProfiles("reporter")
@Testcontainers(disabledWithoutDocker = true)
@DirtiesContext // or its context would outlive the broker
class NightlyReportWithDockerTest {

  @Container @ServiceConnection
  static final RabbitMQContainer broker = new RabbitMQContainer("rabbitmq:4.3");

  @Autowired private NightlyReport report;
  @Autowired private ReportTable table;

  @Test
  void whileAnotherProcessWritesItIsLeftToThat() throws Exception {
    LocalDate day = LocalDate.of(2026, 11, 21);
    ConnectionFactory settings = new ConnectionFactory();
    settings.setUri(broker.getAmqpUrl());
    try (AmqpLocks other = AmqpLocks.builder(settings).build();
        Lease lease = other.fencedMutex("nightly-report").acquire(Duration.ofSeconds(30))) {
      report.write(day, null);
      assertThat(table.images(day)).isEmpty();
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }
}
