package io.amqplocks.sample.report;

import io.amqplocks.spring.LeaderOnly;
import java.time.LocalDate;
import java.time.ZoneId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Deletes reports that are too old. One process leads and does it again and again, until it stops
 * or dies; then another one leads. That two do it at the same time for a moment would harm nothing,
 * so it needs no fencing token.
 */
@Component
@Profile("reporter")
class OldReports {

  private static final Logger log = LoggerFactory.getLogger(OldReports.class);

  private final ReportTable table;
  private final ReportProperties properties;

  OldReports(ReportTable table, ReportProperties properties) {
    this.table = table;
    this.properties = properties;
  }

  /** Does nothing in a process that does not lead. */
  @Scheduled(fixedDelayString = "${sample.report.tidy-every}")
  @LeaderOnly("old-reports")
  void delete() {
    LocalDate first = LocalDate.now(ZoneId.systemDefault()).minus(properties.keep());
    int deleted = table.deleteBefore(first);
    if (deleted > 0) {
      log.info("Deleted {} reports of days before {}", deleted, first);
    }
  }
}
