package io.amqplocks.lines;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.boot.SpringBootVersion;
import org.springframework.util.ClassUtils;

/** A small application as it really starts, on a real broker, with this line's Spring Boot. */
@Tag("one-jdk")
@BrokerTest
class SmokeTest {

  @Test
  void annotationsAndTemplate(Broker broker) throws Exception {
    String version = SpringBootVersion.getVersion();
    assertThat(version).isEqualTo(System.getProperty("boot.version"));
    try (LineApplication application = new LineApplication(broker)) {
      AmqpLocks locks = application.bean(AmqpLocks.class);
      Application.Uploads uploads = application.bean(Application.Uploads.class);
      assertThat(uploads.upload(() -> locks.admin().tokenSemaphore("images").inUse())).isOne();
      assertThat(locks.admin().tokenSemaphore("images").count()).isEqualTo(2);
      assertThat(uploads.report()).isOne();

      // Before others have held all slots, whose tokens come back a moment later.
      assertThat(uploads.uploadFor("a", () -> uploads.uploadFor("a", () -> "nested")))
          .isEqualTo("nested");

      LockTemplate template = application.bean(LockTemplate.class);
      LockHandle ofCustomer = template.semaphore("images", "a");
      try (Lease one = ofCustomer.acquire();
          Lease other = ofCustomer.acquire()) {
        assertThat(uploads.uploadFor("a", () -> "now")).isEqualTo("later");
        assertThat(one.slot()).isNotEqualTo(other.slot());
      }

      LockHandle report =
          BeanFactoryAnnotationUtils.qualifiedBeanOfType(
              application.context().getBeanFactory(), LockHandle.class, "report");
      report.execute(() -> assertThat(template.mutex("report").tryAcquire()).isEmpty());
      assertThat(
              template
                  .semaphore("images")
                  .executeAsync(() -> CompletableFuture.completedFuture("sent"))
                  .get(60, TimeUnit.SECONDS))
          .isEqualTo("sent");
      template.mutex("report").execute(() -> assertThat(locks.status().held()).isOne());
      assertThat(template.semaphore("images").tryExecute(() -> {})).isTrue();
      assertThat(locks.status().held()).isZero();
    }
    record(version);
  }

  @Test
  void aLeaderRunsItsJobAndItsListener(Broker broker) throws Exception {
    try (LineApplication application = new LineApplication(broker, "--lines.leader=true")) {
      Application.Feed feed = application.bean(Application.Feed.class);
      assertThat(feed.awaitPolls()).isTrue();
      RabbitTemplate template = new RabbitTemplate(application.bean(ConnectionFactory.class));
      template.convertAndSend(application.orders(), "tea");
      assertThat(feed.awaitBooked()).isEqualTo("tea");
    }
  }

  @Test
  void switchedOff(Broker broker) {
    try (LineApplication application = new LineApplication(broker, "--amqp-locks.enabled=false")) {
      Application.Uploads uploads = application.bean(Application.Uploads.class);
      assertThat(uploads.upload(() -> 7)).isEqualTo(7);
      assertThat(application.bean(LockTemplate.class).mutex("report").execute(uploads::report))
          .isOne();
    }
  }

  /** So that {@code bin/verify} can say what really ran. */
  private static void record(String version) throws IOException {
    String file = System.getenv("AMQP_LOCKS_BOOT_RECORD");
    if (file != null) {
      String part =
          ClassUtils.isPresent("org.springframework.boot.health.contributor.HealthIndicator", null)
              ? ""
              : " (without its RabbitMQ and Actuator modules)";
      Files.writeString(
          Path.of(file),
          version + part + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }
}
