package io.amqplocks.sample.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.LocalDate;
import java.time.Period;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.ResourceAccessException;

/** There is no broker, and no receiver either. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.NONE,
    properties = {
      "amqp-locks.mode=in-memory",
      "sample.report.cron=-",
      "sample.report.hold-at-least=0s",
      "sample.report.receiver=http://localhost:1"
    })
@ActiveProfiles("reporter")
class NightlyReportInMemoryTest {

  private static final LockId REPORT = LockId.fencedMutex("nightly-report");

  /** No other test's, for all of them have the same table in memory. */
  private static final LocalDate DAY = LocalDate.of(2026, 1, 21);

  @Autowired private InMemoryLocks locks;
  @Autowired private NightlyReport report;
  @Autowired private ReportTable table;

  @Test
  void whileAnotherProcessWritesItIsLeftToThat() {
    try (InMemoryLocks.Occupation elsewhere = locks.busy(REPORT)) {
      assertThat(elsewhere).isNotNull();
      report.write(DAY, null);
    }
    assertThat(table.images(DAY)).isEmpty();
  }

  /** A frozen one accepts connections. The mutex would be held as long as this process lives. */
  @Test
  void aReceiverThatNeverAnswersDoesNotKeepTheMutex() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      URI uri = URI.create("http://localhost:" + silent.getLocalPort());
      ReportProperties frozen =
          new ReportProperties("-", uri, Duration.ZERO, Duration.ofDays(1), Period.ofDays(1));
      NightlyReport waiting = new NightlyReport(table, frozen);
      assertTimeoutPreemptively(
          Duration.ofSeconds(40),
          () ->
              assertThatExceptionOfType(ResourceAccessException.class)
                  .isThrownBy(() -> waiting.write(DAY, new FencingToken(1, 1, 1))));
    }
  }

  @Test
  void aFailureReleasesTheMutex() {
    assertThatExceptionOfType(ResourceAccessException.class)
        .isThrownBy(() -> report.write(DAY, null));
    assertThat(locks.history()).extracting("lock").contains(REPORT);
    assertThat(locks.leases()).extracting("lock").doesNotContain(REPORT);
  }
}
