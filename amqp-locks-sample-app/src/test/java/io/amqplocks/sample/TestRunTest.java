package io.amqplocks.sample;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.test.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The sample starts where there is a JDK and nothing else. */
@ResourceLock("Qpid and its processes") // one at a time, since each starts several JVMs
class TestRunTest {

  private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");

  @Test
  void withTheBrokerInItsJvmItHasASemaphoreToLookAtAndToResize() throws Exception {
    try (ChildJvm sample =
        ChildJvm.of(TestSampleApplication.class)
            .env("AMQP_LOCKS_BROKER_LINES", "embedded")
            .args("--server.port=0")
            .start()) {
      await().atMost(Duration.ofMinutes(2)).until(() -> port(sample) > 0);
      URI semaphore =
          URI.create(
              "http://127.0.0.1:%d/actuator/amqplocks/semaphore/images".formatted(port(sample)));
      assertThat(ask(HttpRequest.newBuilder(semaphore)))
          .contains("\"slots\":5")
          .contains("\"algorithm\":\"tokens\"");
      HttpRequest.Builder resize =
          HttpRequest.newBuilder(semaphore)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{\"slots\": 7}", UTF_8));
      assertThat(ask(resize)).contains("7");
      assertThat(ask(HttpRequest.newBuilder(semaphore))).contains("\"slots\":7");
      assertThat(sample.lines()).anyMatch(line -> line.contains("Apache Qpid Broker-J"));
    }
  }

  /** The demo's programs are test classes too, so Boot's plugin cannot find it by itself. */
  @Test
  void thePluginIsToldWhichProgramToRun() throws IOException {
    assertThat(Files.readString(Path.of("pom.xml")))
        .contains(
            "<spring-boot.run.main-class>%s<".formatted(TestSampleApplication.class.getName()));
  }

  private static int port(ChildJvm sample) {
    return sample.lines().stream()
        .map(STARTED::matcher)
        .filter(Matcher::find)
        .map(found -> Integer.parseInt(found.group(1)))
        .findFirst()
        .orElse(0);
  }

  private static String ask(HttpRequest.Builder request) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(request.timeout(Duration.ofSeconds(30)).build(), BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }
}
