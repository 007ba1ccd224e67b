package io.amqplocks.sample.report;

import java.net.URI;
import java.time.Duration;
import java.time.Period;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of a reporter.
 *
 * @param cron when to report
 * @param receiver where the receiver listens, which has counted
 * @param holdAtLeast how far the clocks of reporters may be apart
 * @param tidyEvery how long to wait between looks for old reports
 * @param keep how long to keep reports
 */
@ConfigurationProperties("sample.report")
record ReportProperties(
    String cron, URI receiver, Duration holdAtLeast, Duration tidyEvery, Period keep) {}
