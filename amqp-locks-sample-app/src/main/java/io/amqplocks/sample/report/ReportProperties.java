package io.amqplocks.sample.report;

import java.net.URI;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of a reporter.
 *
 * @param cron when to report
 * @param receiver where the receiver listens, which has counted
 */
@ConfigurationProperties("sample.report")
record ReportProperties(String cron, URI receiver) {}
