package io.amqplocks.sample.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import com.sun.net.httpserver.HttpServer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * How an application tests what it does under a lock: as a whole, with a real broker. This one
 * starts a private RabbitMQ; with Docker, {@code @ServiceConnection} does the same (see the
 * README).
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.NONE,
    properties = {
      "sample.report.cron=-",
      "sample.report.tidy-every=50ms",
      "sample.report.hold-at-least=5s"
    })
@ActiveProfiles("reporter")
@DirtiesContext // or its context would be kept for other tests, and outlive the broker
class NightlyReportTest {

  private static final LocalDate DAY = LocalDate.of(2026, 11, 20);
  private static final Duration LONG = Duration.ofSeconds(30);

  /** Closed after the context, which gives its locks back. */
  @AutoClose private static OwnedBroker broker;

  private static HttpServer receiver;

  @BeforeAll
  static void start() throws IOException {
    broker = Brokers.start();
    receiver = receiver("{\"images\": 60, \"failed\": 0}");
  }

  @AfterAll
  static void stop() {
    receiver.stop(0);
  }

  @DynamicPropertySource
  static void settings(DynamicPropertyRegistry properties) {
    ConnectionFactory settings = broker.connectionFactory();
    properties.add("spring.rabbitmq.host", settings::getHost);
    properties.add("spring.rabbitmq.port", settings::getPort);
    properties.add("spring.rabbitmq.username", settings::getUsername);
    properties.add("spring.rabbitmq.password", settings::getPassword);
    properties.add("spring.rabbitmq.virtual-host", settings::getVirtualHost);
    properties.add(
        "sample.report.receiver", () -> "http://localhost:" + receiver.getAddress().getPort());
  }

  @Autowired private NightlyReport report;
  @Autowired private ReportTable table;
  @Autowired private AmqpLocks locks;
  @Autowired private ReportProperties properties;

  /** Once the report before it is old enough. */
  private void awaitReport(LocalDate day) {
    long unused = beginOfReport(day);
  }

  /** Awaits a report, and returns when it was begun, by {@code System.nanoTime()}. */
  private long beginOfReport(LocalDate day) {
    AtomicLong begin = new AtomicLong();
    await()
        .atMost(LONG)
        .untilAsserted(
            () -> {
              begin.set(System.nanoTime());
              report.write(day, null);
              assertThat(table.images(day)).hasValue(60);
            });
    return begin.get();
  }

  @Test
  void oneReportADay() {
    awaitReport(DAY);
  }

  /** Its clock is late: the report is there already. */
  @Test
  void aReportThatWasJustWrittenIsNotWrittenAgain() {
    LocalDate next = DAY.plusDays(2);
    boolean isOld = true;
    // On a machine that stalls, the first one may be old enough when it is the next one's turn.
    for (int tries = 0; tries < 3 && isOld; tries++) {
      long begin = beginOfReport(next.plusDays(1));
      next = next.plusDays(2);
      report.write(next, null);
      isOld = System.nanoTime() - begin >= properties.holdAtLeast().toNanos();
    }
    assertThat(table.images(next)).isEmpty();
    awaitReport(next);
  }

  @Test
  void whileAnotherProcessWritesItIsLeftToThat() throws Exception {
    LocalDate day = DAY.plusDays(1);
    try (AmqpLocks other = AmqpLocks.builder(broker.connectionFactory()).build();
        Lease lease = other.fencedMutex("nightly-report").acquire(LONG)) {
      assertThat(lease.slot()).isEqualTo(1);
      report.write(day, null);
      assertThat(table.images(day)).isEmpty();
    }
    awaitReport(day);
  }

  @Test
  void aWriterThatWasOvertakenWithoutKnowingItIsRefused() throws Exception {
    LocalDate day = DAY.plusDays(2);
    FencingToken old;
    try (Lease lease = locks.fencedMutex("nightly-report").acquire(LONG)) {
      old = lease.fencingToken();
    }
    awaitReport(day);
    assertThat(table.write(day, 0, old)).isFalse();
    assertThat(table.images(day)).hasValue(60);
  }

  /** The leader is first this process, then another one, and then this one again. */
  @Test
  void oldReportsAreDeletedByTheLeaderOnly() throws Exception {
    LocalDate old = DAY.minusYears(3);
    write(old);
    await().atMost(LONG).until(() -> table.images(old).isEmpty());
    try (AmqpLocks others = AmqpLocks.builder(broker.connectionFactory()).build();
        LeaderElection other = LeaderElection.on(others.mutex("old-reports")).build()) {
      other.start();
      await()
          .atMost(LONG)
          .until(
              () ->
                  broker.faults().queues().stream()
                      .anyMatch(
                          queue ->
                              queue.name().endsWith("mutex.old-reports")
                                  && queue.consumers() == 2));
      locks.revoke(LockId.mutex("old-reports"), "a test");
      assertThat(other.awaitLeadership(LONG)).isPresent();
      await().during(Duration.ofMillis(500)).until(() -> isThereOrWritten(old));
    }
    await().atMost(LONG).until(() -> table.images(old).isEmpty());
  }

  /** It is written again if the one who led before was just deleting it. */
  private boolean isThereOrWritten(LocalDate day) throws Exception {
    boolean isThere = table.images(day).isPresent();
    if (!isThere) {
      write(day);
    }
    return isThere;
  }

  private void write(LocalDate day) throws Exception {
    try (Lease lease = locks.fencedMutex("nightly-report").acquire(LONG)) {
      // The leader may delete it between the two statements.
      await().atMost(LONG).until(() -> table.write(day, 1, lease.fencingToken()));
    }
  }

  private static HttpServer receiver(String stats) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] body = stats.getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/stats",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }
}
