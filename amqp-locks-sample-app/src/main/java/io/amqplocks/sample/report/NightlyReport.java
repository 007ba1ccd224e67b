package io.amqplocks.sample.report;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.sample.BoundedRequests;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import java.time.LocalDate;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * Writes how many images have come in. The mutex keeps processes from doing so at the same time. A
 * process that freezes in the middle, loses the mutex and wakes up later is not stopped by that,
 * but by its old fencing token, which the table refuses.
 */
@Component
@Profile("reporter")
class NightlyReport {

  private static final Logger log = LoggerFactory.getLogger(NightlyReport.class);

  private static final String NO_TOKEN =
      "There is no fencing token: called past its lock, or with amqp-locks.enabled=false";

  /** The part of the receiver's statistics that is reported. */
  record Count(int images) {}

  private final ReportTable table;
  private final RestClient receiver;

  NightlyReport(ReportTable table, ReportProperties properties) {
    this.table = table;
    this.receiver =
        RestClient.builder()
            .baseUrl(properties.receiver())
            .requestFactory(BoundedRequests.factory())
            .build();
  }

  /**
   * Writes the report of that day, unless another process is about it, or has been just now: clocks
   * differ, and the schedule of a process that is late must find the mutex held.
   *
   * @param token callers pass null, and the lock puts its fencing token there
   */
  @MutexGuarded(
      name = "nightly-report",
      algorithm = MutexAlgorithm.TOKENS,
      onBusy = OnBusy.SKIP,
      holdAtLeast = "${sample.report.hold-at-least}")
  public void write(LocalDate day, @Nullable FencingToken token) {
    FencingToken ours = Objects.requireNonNull(token, NO_TOKEN);
    Count count = Objects.requireNonNull(receiver.get().uri("/stats").retrieve().body(Count.class));
    if (table.write(day, count.images(), ours)) {
      log.info("Report of {}: {} images", day, count.images());
    } else {
      log.warn("Report of {} was not written: another process has written it since", day);
    }
  }
}
