package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** What editors show of the properties. */
class MetadataTest {

  /** Without a default, because what counts then is another property's or the environment's. */
  private static final Set<String> WITHOUT_DEFAULT =
      Set.of(
          "amqp-locks.call-timeout",
          "amqp-locks.certain-for",
          "amqp-locks.connection-factory",
          "amqp-locks.connection-name",
          "amqp-locks.lock-registry.key",
          "amqp-locks.mutexes",
          "amqp-locks.read-write-locks",
          "amqp-locks.semaphores",
          "amqp-locks.verify-every",
          "management.endpoint.amqplocks.roles");

  private final Map<String, Map<String, Object>> properties = byName("properties");
  private final Map<String, Map<String, Object>> hints = byName("hints");

  private static Map<String, Map<String, Object>> byName(String group) {
    String resource = "/META-INF/spring-configuration-metadata.json";
    try (InputStream metadata = AmqpLocksProperties.class.getResourceAsStream(resource)) {
      assertThat(metadata).isNotNull();
      String json = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
      List<Map<String, Object>> entries = JsonPath.read(json, "$." + group);
      assertThat(entries).isNotNull();
      return entries.stream()
          .collect(
              Collectors.toMap(entry -> String.valueOf(entry.get("name")), Function.identity()));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyPropertyIsThereWithATypeAndADescription() {
    List<String> components =
        Arrays.stream(AmqpLocksProperties.class.getRecordComponents())
            .map(RecordComponent::getName)
            .filter(name -> !name.equals("annotations"))
            .map(name -> "amqp-locks." + name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
            .toList();
    assertThat(properties.keySet())
        .containsAll(components)
        .contains(
            "amqp-locks.annotations.order",
            "amqp-locks.annotations.mode",
            "amqp-locks.annotations.on-unavailable",
            "management.health.amqplocks.enabled");
    assertThat(properties)
        .allSatisfy(
            (name, property) -> {
              assertThat(ConfigurationPropertyName.isValid(name)).isTrue();
              assertThat(property.get("type")).isNotNull();
              assertThat(String.valueOf(property.get("description")))
                  .matches("(?s)[A-Z].+\\.")
                  .doesNotContain("{@", "<p>");
            });
  }

  @Test
  void everyPropertyHasADefaultUnlessThatIsMadeOfOthers() {
    assertThat(properties)
        .allSatisfy(
            (name, property) ->
                assertThat(property.containsKey("defaultValue"))
                    .as(name)
                    .isNotEqualTo(WITHOUT_DEFAULT.contains(name)));
  }

  @Test
  void hintsAreForPropertiesThatThereAreAndNameAllTheirValues() {
    assertThat(properties.keySet()).containsAll(hints.keySet());
    assertThat(hints.keySet()).contains("amqp-locks.connection-factory");
    assertThat(String.valueOf(hints.get("amqp-locks.annotations.mode")))
        .contains("\"proxy\"", "\"aspectj\"");
    assertThat(String.valueOf(hints.get("amqp-locks.semaphore-algorithm")))
        .contains("\"tokens\"", "\"slots\"");
    assertThat(String.valueOf(hints.get("amqp-locks.semaphore-queue-type")))
        .contains("\"quorum\"", "\"classic\"");
  }
}
