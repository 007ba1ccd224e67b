package io.amqplocks.sample.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.lock.LockId;
import java.time.LocalDate;
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
  private static final LocalDate DAY = LocalDate.of(2026, 11, 21);

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

  @Test
  void aFailureReleasesTheMutex() {
    assertThatExceptionOfType(ResourceAccessException.class)
        .isThrownBy(() -> report.write(DAY, null));
    assertThat(locks.history()).extracting("lock").contains(REPORT);
    assertThat(locks.leases()).extracting("lock").doesNotContain(REPORT);
  }
}
