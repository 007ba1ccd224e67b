package io.amqplocks.sample.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.convert.DurationStyle;

/** The Compose file and the image that it builds. No container is started. */
class ComposeFileTest {

  private static final Path FILE = Path.of("compose.yaml");

  private final Map<String, JsonObject> services = new HashMap<>();

  ComposeFileTest() {
    Manifests.read(FILE)
        .get(0)
        .getAsJsonObject("services")
        .entrySet()
        .forEach(service -> services.put(service.getKey(), service.getValue().getAsJsonObject()));
  }

  @Test
  void isWhatComposeTakes() throws Exception {
    List<String> compose =
        List.of(List.of("docker", "compose"), List.of("docker-compose")).stream()
            .filter(program -> run(program, "version").isEmpty())
            .findFirst()
            .orElse(List.of());
    assumeTrue(!compose.isEmpty(), "there is neither docker compose nor docker-compose here");
    assertThat(run(compose, "-f", FILE.toString(), "--profile", "app", "config", "-q")).isEmpty();
  }

  /** What it complained of; empty if it ended well. */
  private static String run(List<String> program, String... arguments) {
    List<String> command = new ArrayList<>(program);
    command.addAll(List.of(arguments));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor(1, TimeUnit.MINUTES) && process.exitValue() == 0
          ? ""
          : command + ": " + output;
    } catch (IOException notThere) {
      return command + ": " + notThere;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Test
  void startsTheBrokerAloneUnlessAskedForMore() {
    assertThat(services).containsOnlyKeys("rabbitmq", "receiver", "worker", "reporter");
    services.forEach(
        (name, service) -> assertThat(service.has("profiles")).isEqualTo(!name.equals("rabbitmq")));
  }

  @Test
  void aContainerIsKilledOnlyAfterAllThatAShutdownMayTake() {
    for (String name : List.of("receiver", "worker", "reporter")) {
      JsonObject service = Objects.requireNonNull(services.get(name));
      Map<String, String> variables = new HashMap<>();
      for (Map.Entry<String, JsonElement> variable :
          service.getAsJsonObject("environment").entrySet()) {
        variables.put(variable.getKey(), variable.getValue().getAsString());
      }
      ContainerSettings settings = ContainerSettings.inCompose(variables);
      Duration grace = DurationStyle.detectAndParse(service.get("stop_grace_period").getAsString());
      assertThat(grace).isGreaterThan(settings.longestShutdown());
      assertThat(settings.get("server.address")).isEqualTo("0.0.0.0");
      assertThat(settings.get("server.port")).isEqualTo("8080");
      assertThat(settings.get("management.endpoint.amqplocks.access")).isEqualTo("read-only");
    }
  }

  /** A shell would keep the SIGTERM to itself; and Kubernetes refuses root, and names of users. */
  @Test
  void theImageRunsJavaAsItsFirstProcessAndNotAsRoot() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("Dockerfile"));
    assertThat(lines).last().asString().startsWith("ENTRYPOINT [\"java\", ");
    assertThat(lines).noneMatch(line -> line.startsWith("CMD"));
    assertThat(lines).anyMatch(line -> line.matches("USER [1-9]\\d*:[1-9]\\d*"));
  }
}
