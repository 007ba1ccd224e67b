package io.amqplocks.sample.report;

import java.time.LocalDate;
import java.time.ZoneId;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * When to report. A class of its own, because Spring guards calls from one bean to another, and not
 * those within a bean.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@Profile("reporter")
class ReportSchedule {

  private final NightlyReport report;

  ReportSchedule(NightlyReport report) {
    this.report = report;
  }

  /** In every process; the mutex sees to it that one at a time writes. */
  @Scheduled(cron = "${sample.report.cron}")
  void yesterday() {
    report.write(LocalDate.now(ZoneId.systemDefault()).minusDays(1), null);
  }
}
