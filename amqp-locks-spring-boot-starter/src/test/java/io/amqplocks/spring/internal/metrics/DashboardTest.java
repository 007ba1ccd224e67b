package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksObservationAutoConfiguration;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.yaml.snakeyaml.Yaml;

/**
 * The dashboard and the alert rules in {@code docs/operations} ask for meters, labels and values
 * that an application really has.
 */
@BrokerTest
class DashboardTest {

  private static final Path FILES =
      Path.of("").toAbsolutePath().resolveSibling("docs").resolve("operations");

  private static final Pattern SERIES = Pattern.compile("amqp_locks_[a-z_]+");
  private static final Pattern TYPE = Pattern.compile("^# TYPE (amqp_locks_\\w+) .*$");
  private static final Pattern HELP = Pattern.compile("^# HELP (amqp_locks_\\w+) +\\S.*$");
  private static final Pattern SAMPLE = Pattern.compile("^(\\w+)(?:\\{(.*)})? \\S+$");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
  private static final Pattern SELECTED = Pattern.compile("(amqp_locks_[a-z]+)=\"(\\w+)\"");

  /** Labels that have the same prefix as series. */
  private static final Set<String> LABELS =
      Set.of("amqp_locks_name", "amqp_locks_type", "amqp_locks_outcome", "amqp_locks_cause");

  @AutoClose private final LocksOnBroker onBroker;

  DashboardTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Uploads {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    void upload() {}

    @MutexGuarded(name = "${test.lock}", onUnavailable = OnUnavailable.RUN)
    void report() {}

    @LeaderOnly("${test.lock}-leader")
    void tidyUp() {}
  }

  /** What an application exposes while a lease is held. */
  private String scrape() {
    AtomicReference<String> text = new AtomicReference<>("");
    onBroker
        .application()
        .withConfiguration(
            AutoConfigurations.of(
                ObservationAutoConfiguration.class, AmqpLocksObservationAutoConfiguration.class))
        .withBean(
            PrometheusMeterRegistry.class,
            () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
        .withBean(Uploads.class)
        .run(
            context -> {
              context.getBean(Uploads.class).upload();
              context.getBean(Uploads.class).report();
              LockTemplate locks = context.getBean(LockTemplate.class);
              locks.mutex(onBroker.name() + "-other").execute(() -> {});
              try (Lease lease = locks.semaphore(onBroker.name()).acquire()) {
                assertThat(lease.slot()).isPositive();
                text.set(context.getBean(PrometheusMeterRegistry.class).scrape());
              }
            });
    return text.get();
  }

  /** The labels of each series, with their values. */
  private static Map<String, Map<String, Set<String>>> read(String scrape) {
    Map<String, Map<String, Set<String>>> series = new HashMap<>();
    scrape
        .lines()
        .map(SAMPLE::matcher)
        .filter(Matcher::matches)
        .forEach(
            sample -> {
              Map<String, Set<String>> labels =
                  series.computeIfAbsent(sample.group(1), name -> new HashMap<>());
              String text = sample.group(2) == null ? "" : sample.group(2);
              Matcher label = LABEL.matcher(text);
              while (label.find()) {
                labels.computeIfAbsent(label.group(1), name -> new HashSet<>()).add(label.group(2));
              }
            });
    return series;
  }

  private static List<String> named(Pattern line, String scrape) {
    return scrape.lines().map(line::matcher).filter(Matcher::matches).map(m -> m.group(1)).toList();
  }

  @Test
  void eachSeriesIsExplained() {
    String scrape = scrape();
    assertThat(named(TYPE, scrape))
        .contains("amqp_locks_acquire_active_seconds", "amqp_locks_hold_active_seconds")
        .hasSameElementsAs(named(HELP, scrape));
  }

  private static List<String> expressions() throws IOException {
    List<String> all = new ArrayList<>();
    Map<String, List<Map<String, List<Map<String, Object>>>>> alerts =
        new Yaml().load(Files.readString(FILES.resolve("prometheus-alerts.yml")));
    alerts
        .getOrDefault("groups", List.of())
        .forEach(
            group ->
                group
                    .getOrDefault("rules", List.of())
                    .forEach(rule -> all.add(String.valueOf(rule.get("expr")))));
    assertThat(all).as("alerts").hasSize(7);
    List<String> panels =
        JsonPath.read(
            Files.readString(FILES.resolve("grafana-dashboard.json")),
            "$.panels[*].targets[*].expr");
    assertThat(panels).as("targets of the dashboard").hasSizeGreaterThan(8);
    all.addAll(panels);
    return all;
  }

  @Test
  void everyExpressionAsksForWhatThereIs() throws Exception {
    Map<String, Map<String, Set<String>>> series = read(scrape());
    for (String expression : expressions()) {
      List<String> asked =
          SERIES
              .matcher(expression)
              .results()
              .map(match -> match.group())
              .filter(name -> !LABELS.contains(name))
              .toList();
      assertThat(asked).as(expression).isNotEmpty();
      assertThat(series.keySet()).as(expression).containsAll(asked);
      // Labels that an expression groups by or selects must be on each of its series, but for "on".
      if (!expression.contains(" and on ")) {
        for (String label : LABELS) {
          if (expression.contains(label)) {
            assertThat(asked)
                .as(expression)
                .allSatisfy(name -> assertThat(series.get(name)).as(name).containsKey(label));
          }
        }
      }
      Matcher selected = SELECTED.matcher(expression);
      while (selected.find()) {
        String label = selected.group(1);
        String value = selected.group(2);
        assertThat(asked)
            .as(expression)
            .anySatisfy(
                name -> assertThat(series.getOrDefault(name, Map.of()).get(label)).contains(value));
      }
    }
  }
}
