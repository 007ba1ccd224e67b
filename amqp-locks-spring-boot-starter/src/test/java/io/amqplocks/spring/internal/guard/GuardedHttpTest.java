package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Every busy policy with every kind of result, as a browser sees it, while a foreign process holds
 * the lock: one application, over real HTTP.
 */
@BrokerTest
class GuardedHttpTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String JSON = "{\"text\":\"%s\"}";

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(HttpWork.class)
  static class Application {}

  /** One for all tests, since a web server takes its time to start. */
  private static @Nullable Running shared;

  private final Running running;

  /** The application, and a foreigner. */
  private record Running(
      LocksOnBroker onBroker,
      ConfigurableApplicationContext context,
      AmqpLocks stranger,
      HttpClient browser)
      implements AutoCloseable {

    static Running on(LocksOnBroker onBroker) {
      String[] all =
          Stream.of(
                  Arrays.stream(onBroker.properties()),
                  Stream.of(
                      "server.port=0", "spring.jmx.enabled=false", "spring.main.banner-mode=off"))
              .flatMap(each -> each)
              .map(property -> "--" + property)
              .toArray(String[]::new);
      return new Running(
          onBroker,
          new SpringApplicationBuilder(Application.class).run(all),
          onBroker.stranger(),
          HttpClient.newBuilder().connectTimeout(LONG).build());
    }

    int port() {
      return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    AmqpLocks locks() {
      return context.getBean(AmqpLocks.class);
    }

    /** The broker may not have read yet what a request gave back. */
    Lease foreignLease() {
      return await()
          .atMost(LONG)
          .until(() -> stranger.mutex(onBroker.name()).tryAcquire(), Optional::isPresent)
          .orElseThrow();
    }

    CompletableFuture<HttpResponse<String>> get(String path) {
      return browser.sendAsync(
          HttpRequest.newBuilder(URI.create("http://localhost:" + port() + path))
              .timeout(Duration.ofSeconds(60))
              .header("Accept", "application/json")
              .build(),
          BodyHandlers.ofString());
    }

    /** A request of a client that goes away when it is closed, without reading. */
    Socket request(String path) throws IOException {
      Socket socket = new Socket("localhost", port());
      socket.setSoTimeout((int) LONG.toMillis());
      socket.setSoLinger(true, 0);
      socket
          .getOutputStream()
          .write(
              ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      return socket;
    }

    @Override
    public void close() {
      stranger.close();
      context.close();
      onBroker.close();
    }
  }

  GuardedHttpTest(Broker broker) {
    running = shared(broker);
  }

  private static Running shared(Broker broker) {
    Running known = shared == null ? Running.on(new LocksOnBroker(broker)) : shared;
    shared = known;
    return known;
  }

  @AfterAll
  static void close() {
    if (shared != null) {
      shared.close();
      shared = null;
    }
  }

  /** Served in turn: a request that still waits works first, whether its client is there or not. */
  @AfterEach
  void nothingIsHeldAfterwards() throws InterruptedException {
    running.stranger().mutex(running.onBroker().name()).acquire(LONG).close();
    await()
        .atMost(LONG)
        .until(() -> running.locks().status().held() + running.locks().status().waiting() == 0);
  }

  private static String body(String text, String kind) {
    return kind.equals("flux") ? "[" + JSON.formatted(text) + "]" : JSON.formatted(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "future", "mono", "flux"})
  void aRequestWaitsForTheForeigner(String kind) {
    CompletableFuture<HttpResponse<String>> answer;
    try (Lease foreign = running.foreignLease()) {
      answer = running.get("/wait/" + kind);
      await().atMost(LONG).until(() -> running.locks().status().waiting() == 1);
      assertThat(answer).isNotDone();
      assertThat(foreign.lossReason()).isEmpty();
    }
    assertThat(answer.join().statusCode()).isEqualTo(200);
    String work = JSON.formatted("work");
    assertThat(answer.join().body())
        .isEqualTo(kind.equals("flux") ? "[" + work + "," + work + "]" : work);
  }

  @ParameterizedTest
  @CsvSource({
    "wait-briefly, plain",
    "wait-briefly, future",
    "wait-briefly, mono",
    "wait-briefly, flux",
    "throw, plain",
    "throw, future",
    "throw, mono",
    "throw, flux"
  })
  void orHearsThatItIsBusy(String policy, String kind) {
    try (Lease foreign = running.foreignLease()) {
      HttpResponse<String> answer = running.get("/" + policy + "/" + kind).join();
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).isEqualTo(JSON.formatted("busy"));
      assertThat(foreign.lossReason()).isEmpty();
    }
    // The foreigner's release is not confirmed.
    await()
        .atMost(LONG)
        .until(() -> running.get("/" + policy + "/" + kind).join().statusCode() == 200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "future", "mono", "flux"})
  void orIsSkipped(String kind) {
    try (Lease foreign = running.foreignLease()) {
      HttpResponse<String> answer = running.get("/skip/" + kind).join();
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo(kind.equals("flux") ? "[]" : "");
      assertThat(foreign.lossReason()).isEmpty();
    }
    await().atMost(LONG).until(() -> running.get("/skip/" + kind).join().body().contains("work"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "future", "mono", "flux"})
  void orHasTheFallback(String kind) {
    try (Lease foreign = running.foreignLease()) {
      HttpResponse<String> answer = running.get("/fallback/" + kind).join();
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo(body("instead", kind));
      assertThat(foreign.lossReason()).isEmpty();
    }
    await()
        .atMost(LONG)
        .until(() -> running.get("/fallback/" + kind).join().body().contains("work"));
  }

  @Test
  void aClientThatLeavesAStreamLeavesTheLock() throws IOException {
    try (Socket client = running.request("/stream")) {
      assertThat(client.getInputStream().read()).isPositive();
      await().atMost(LONG).until(() -> running.locks().status().held() == 1);
    }
    // Noticed at a write that fails; asserted after each test.
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "future", "mono", "flux"})
  void aClientThatLeavesWhileItsRequestWaits(String kind) throws IOException {
    try (Lease foreign = running.foreignLease()) {
      try (Socket client = running.request("/wait/" + kind)) {
        await().atMost(LONG).until(() -> running.locks().status().waiting() == 1);
        assertThat(client.isConnected()).isTrue();
      }
      assertThat(foreign.lossReason()).isEmpty();
    }
  }
}
