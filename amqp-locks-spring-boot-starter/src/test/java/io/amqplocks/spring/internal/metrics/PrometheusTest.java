package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import com.sun.net.httpserver.HttpServer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksObservationAutoConfiguration;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.yaml.snakeyaml.Yaml;

/**
 * Prometheus loads the alert rules of {@code docs/operations} and evaluates them, and what the
 * dashboard asks, on what an application exposes. Each alert fires when what it is about happens,
 * and none in a healthy application. Only the times of the rules are shorter here.
 */
@BrokerTest
@Tag("one-jdk")
class PrometheusTest {

  private static final Path FILES =
      Path.of("").toAbsolutePath().resolveSibling("docs").resolve("operations");

  @AutoClose private final LocksOnBroker onBroker;
  @AutoClose private final TcpProxy proxy;
  private final Broker broker;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @TempDir private Path folder;

  PrometheusTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    proxy = TcpProxy.to(broker);
  }

  static class Uploads {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    void upload() {}

    @MutexGuarded(name = "${test.lock}", onUnavailable = OnUnavailable.RUN)
    void report() {}
  }

  /** It leads all the time, which is no lease that was forgotten. */
  static class Leader {
    @LeaderOnly("${test.lock}.leader")
    public void lead() {}
  }

  private static Path rules(Path folder) throws IOException {
    Map<String, List<Map<String, List<Map<String, Object>>>>> file =
        new Yaml().load(Files.readString(FILES.resolve("prometheus-alerts.yml")));
    file.getOrDefault("groups", List.of())
        .forEach(
            group ->
                group
                    .getOrDefault("rules", List.of())
                    .forEach(
                        rule -> {
                          rule.computeIfPresent("for", (key, time) -> "1s");
                          rule.computeIfPresent(
                              "expr", (key, text) -> text.toString().replace("> 3600", "> 2"));
                        }));
    return Files.writeString(folder.resolve("rules.yml"), new Yaml().dump(file));
  }

  private static List<String> panels() throws IOException {
    List<String> expressions =
        JsonPath.read(
            Files.readString(FILES.resolve("grafana-dashboard.json")),
            "$.panels[*].targets[*].expr");
    return expressions.stream()
        .map(each -> each.replace("$job", ".*").replace("$__rate_interval", "1m"))
        .toList();
  }

  private HttpServer expose() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return server;
  }

  @Test
  void everyPanelHasDataAndEveryAlertFires() throws Exception {
    Path program = Prometheus.program();
    HttpServer server = expose();
    try (Prometheus prometheus =
        new Prometheus(program, folder, rules(folder), server.getAddress().getPort())) {
      onBroker
          .application()
          .withConfiguration(
              AutoConfigurations.of(
                  ObservationAutoConfiguration.class, AmqpLocksObservationAutoConfiguration.class))
          .withPropertyValues(
              "spring.rabbitmq.host=" + proxy.host(), "spring.rabbitmq.port=" + proxy.port())
          .withBean(PrometheusMeterRegistry.class, () -> registry)
          .withBean(Uploads.class)
          .withBean(Leader.class)
          .run(
              context -> {
                healthy(prometheus, context);
                crowded(prometheus, context.getBean(LockTemplate.class));
                lost(prometheus, context.getBean(LockTemplate.class));
                outage(prometheus, context);
              });
    } finally {
      server.stop(0);
    }
  }

  private static void healthy(Prometheus prometheus, ApplicationContext context) throws Exception {
    Uploads uploads = context.getBean(Uploads.class);
    try (Lease lease = context.getBean(LockTemplate.class).mutex("healthy").acquire()) {
      for (String panel : panels()) {
        await(panel)
            .untilAsserted(
                () -> {
                  uploads.upload();
                  uploads.report();
                  assertThat(prometheus.query(panel)).anyMatch(value -> !Double.isNaN(value));
                });
      }
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    await()
        .untilAsserted(() -> assertThat(prometheus.healthOfRules()).hasSize(7).containsOnly("ok"));
    await().untilAsserted(() -> assertThat(prometheus.firing()).isEmpty());
  }

  private void crowded(Prometheus prometheus, LockTemplate locks) throws Exception {
    CompletableFuture<Void> waiting;
    try (Lease one = locks.semaphore(onBroker.name()).acquire();
        Lease two = locks.semaphore(onBroker.name()).acquire()) {
      assertThat(one.slot()).isNotEqualTo(two.slot());
      waiting =
          CompletableFuture.runAsync(
              () ->
                  locks
                      .semaphore(onBroker.name())
                      .waiting(Duration.ofMinutes(2))
                      .acquire()
                      .close());
      LockHandle impatient = locks.semaphore(onBroker.name()).waiting(Duration.ofMillis(50));
      await()
          .untilAsserted(
              () -> {
                assertThatThrownBy(impatient::acquire)
                    .isInstanceOf(LockException.AcquireTimeout.class);
                assertThat(prometheus.firing())
                    .contains("AmqpLocksSaturated", "AmqpLocksHeldForLong", "AmqpLocksTimeouts");
              });
    }
    waiting.join();
    await()
        .untilAsserted(
            () ->
                assertThat(prometheus.firing())
                    .doesNotContain("AmqpLocksSaturated", "AmqpLocksHeldForLong"));
  }

  private void lost(Prometheus prometheus, LockTemplate locks) {
    assertThat(prometheus.firing()).doesNotContain("AmqpLocksLeaseLost");
    try (Lease lease = locks.mutex(onBroker.name()).acquire()) {
      broker.faults().deleteQueue(onBroker.mutexQueue());
      await().until(() -> lease.state() == LeaseState.LOST);
    }
    await().untilAsserted(() -> assertThat(prometheus.firing()).contains("AmqpLocksLeaseLost"));
  }

  private void outage(Prometheus prometheus, ApplicationContext context) {
    Uploads uploads = context.getBean(Uploads.class);
    assertThat(prometheus.firing())
        .doesNotContain("AmqpLocksNoSession", "AmqpLocksUnguarded", "AmqpLocksErrors");
    proxy.refuse(true);
    proxy.cut();
    await()
        .until(
            () -> context.getBean(AmqpLocks.class).status().session() != LocksStatus.Session.OPEN);
    await()
        .untilAsserted(
            () -> {
              uploads.report();
              assertThatThrownBy(uploads::upload).isInstanceOf(LockException.class);
              assertThat(prometheus.firing())
                  .contains("AmqpLocksNoSession", "AmqpLocksUnguarded", "AmqpLocksErrors");
            });
    assertThat(prometheus.annotations())
        .hasSizeGreaterThanOrEqualTo(6)
        .noneMatch(text -> text.isBlank() || text.contains("<no value>"));
    proxy.heal();
    await()
        .untilAsserted(() -> assertThat(prometheus.firing()).doesNotContain("AmqpLocksNoSession"));
  }
}
