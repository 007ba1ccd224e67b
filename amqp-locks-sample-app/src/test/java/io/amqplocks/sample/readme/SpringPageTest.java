package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksProperties;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Name;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** The tables of SPRING.md have what the code has: all of it, and nothing else. */
class SpringPageTest {

  private final String page;

  SpringPageTest() throws IOException {
    page = Files.readString(Snippets.file("docs/SPRING.md"));
  }

  /** The first two columns of the rows below that heading. */
  private Map<String, String> table(String heading) {
    String part = page.substring(page.indexOf("\n## " + heading + "\n") + 4);
    Matcher row =
        Pattern.compile("^\\| (`.*?`) \\| (.*?) ?\\|.*$", Pattern.MULTILINE)
            .matcher(part.substring(0, part.indexOf("\n##")));
    Map<String, String> rows = new TreeMap<>();
    while (row.find()) {
      for (String name : row.group(1).split(", ", -1)) {
        assertThat(rows.put(name.replace("`", ""), row.group(2).replace("`", ""))).isNull();
      }
    }
    return rows;
  }

  @Test
  void allPropertiesWithTheirDefaults() throws IOException {
    Map<String, String> told = table("Properties");
    Map<String, String> defaults = new TreeMap<>();
    TreeSet<String> names = new TreeSet<>();
    for (JsonNode property : metadata().get("properties")) {
      String name = property.get("name").asString();
      switch (name) {
        case "amqp-locks.semaphores" ->
            names.addAll(nested(name, AmqpLocksProperties.Semaphore.class));
        case "amqp-locks.mutexes" -> names.addAll(nested(name, AmqpLocksProperties.Mutex.class));
        case "amqp-locks.read-write-locks" ->
            names.addAll(nested(name, AmqpLocksProperties.ReadWriteLock.class));
        default -> names.add(name);
      }
      if (property.has("defaultValue")) {
        defaults.put(name, property.get("defaultValue").asString());
      }
    }
    assertThat(told.keySet()).isEqualTo(names);
    assertThat(told).containsAllEntriesOf(defaults);
  }

  private static JsonNode metadata() throws IOException {
    for (URL url :
        SpringPageTest.class
            .getClassLoader()
            .resources("META-INF/spring-configuration-metadata.json")
            .toList()) {
      JsonNode metadata = new ObjectMapper().readTree(url.openStream());
      if (metadata.toString().contains("amqp-locks.queue-prefix")) {
        return metadata;
      }
    }
    throw new AssertionError("the starter has no metadata");
  }

  private static List<String> nested(String parent, Class<?> type) {
    return Arrays.stream(type.getDeclaredConstructors()[0].getParameters())
        .map(parameter -> parent + ".<name>." + name(parameter))
        .toList();
  }

  private static String name(Parameter parameter) {
    Name name = parameter.getAnnotation(Name.class);
    return name == null
        ? parameter.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT)
        : name.value();
  }

  @Test
  void allAttributes() {
    assertThat(table("Attributes").keySet())
        .isEqualTo(attributes().collect(Collectors.toCollection(TreeSet::new)));
  }

  private static Stream<String> attributes() {
    return Stream.of(
            MutexGuarded.class, SemaphoreGuarded.class, ReadGuarded.class, WriteGuarded.class)
        .flatMap(annotation -> Arrays.stream(annotation.getDeclaredMethods()))
        .map(Method::getName);
  }

  @Test
  void allTypesThatApplicationsImport() throws IOException {
    String row = table("Where things are").get("io.amqplocks.spring");
    Path folder = Snippets.file("amqp-locks-spring-boot-starter/src/main/java/io/amqplocks/spring");
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String source = Files.readString(file);
        String type = file.getFileName().toString().replace(".java", "");
        if (source.contains("public ") && !source.contains("public enum " + type)) {
          assertThat(row).containsPattern("\\b" + type + "\\b");
        }
      }
    }
  }
}
