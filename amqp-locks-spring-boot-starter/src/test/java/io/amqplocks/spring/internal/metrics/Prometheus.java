package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A private server of Prometheus, which scrapes one target and evaluates rules every second. */
final class Prometheus implements AutoCloseable {

  private static final Duration START = Duration.ofMinutes(2);

  private static final Pattern LISTENING =
      Pattern.compile("msg=\"Listening on\" address=(127\\.0\\.0\\.1:[1-9]\\d*)");

  private final HttpClient http = HttpClient.newHttpClient();
  private final Process process;
  private final String address;

  /** Where there is no Prometheus the test is skipped, but fails in CI. */
  static Path program() {
    Optional<Path> found =
        Stream.concat(
                Stream.ofNullable(System.getenv("AMQP_LOCKS_PROMETHEUS")),
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                    .map(folder -> folder + "/prometheus"))
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst();
    if (!Boolean.parseBoolean(System.getenv("CI"))) {
      assumeThat(found)
          .as("no prometheus on the PATH; AMQP_LOCKS_PROMETHEUS names none either")
          .isPresent();
    }
    assertThat(found).as("prometheus, on the PATH or as AMQP_LOCKS_PROMETHEUS").isPresent();
    return found.orElseThrow();
  }

  Prometheus(Path program, Path folder, Path rules, int target) throws IOException {
    Path configuration = folder.resolve("prometheus.yml");
    Files.writeString(
        configuration,
        """
        global: {scrape_interval: 1s, evaluation_interval: 1s}
        rule_files: ['%s']
        scrape_configs:
          - job_name: images
            static_configs: [{targets: ['127.0.0.1:%d']}]
        """
            .formatted(rules, target));
    Path log = folder.resolve("log");
    process =
        new ProcessBuilder(
                program.toString(),
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:0")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      address =
          await().atMost(START).until(() -> listening(log), Optional::isPresent).orElseThrow();
      await().atMost(START).until(() -> get("/-/ready").statusCode() == 200);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private Optional<String> listening(Path log) throws IOException {
    String text = Files.readString(log);
    assertThat(process.isAlive()).as(text).isTrue();
    Matcher line = LISTENING.matcher(text);
    return line.find() ? Optional.of(line.group(1)) : Optional.empty();
  }

  /** Each rule's health: "unknown" until it is evaluated, then "ok" or "err". */
  List<String> healthOfRules() {
    return JsonPath.read(api("rules"), "$.data.groups[*].rules[*].health");
  }

  /** The values that an expression has now, of all its series. */
  List<Double> query(String expression) {
    List<String> values =
        JsonPath.read(
            api("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8)),
            "$.data.result[*].value[1]");
    return values.stream().map(Double::valueOf).toList();
  }

  /** The names of the alerts that fire. */
  Set<String> firing() {
    List<String> names =
        JsonPath.read(api("alerts"), "$.data.alerts[?(@.state=='firing')].labels.alertname");
    return Set.copyOf(names);
  }

  /** The texts of all alerts that fire or are about to. */
  List<String> annotations() {
    return JsonPath.read(api("alerts"), "$.data.alerts[*].annotations.*");
  }

  private String api(String path) {
    HttpResponse<String> response = get("/api/v1/" + path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.body();
  }

  private HttpResponse<String> get(String path) {
    try {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://" + address + path))
              .timeout(Duration.ofSeconds(30))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
