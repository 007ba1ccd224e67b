package io.amqplocks.prover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * TLC checks all states of small instances of the models. Each model also has variants with a
 * mistake that somebody could make, and must find the promise that it breaks.
 */
@Tag("one-jdk")
class ModelsTest {

  private static final Path MODELS = Path.of("src", "main", "tla");
  private static final Pattern STATES = Pattern.compile("([0-9]+) distinct states found, 0 states");

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          SlotSemaphore  | Clients = {"a", "b", "c"} Slots = {1, 2}          | Exclusion Capacity | 3000
          Fencing        | Processes = {"a", "b"} Most = 3                   | Order Rightful     | 10000
          TokenSemaphore | Clients = {"a", "b", "c"} Tokens = {1, 2}         | Capacity           | 300
          ExpiringMutex  | Clients = {"a", "b", "c"} MostMessages = 3        | Exclusion          | 500
          """)
  void holds(String model, String constants, String invariants, int atLeast) throws Exception {
    String output = check(model, constants, "as designed", invariants);
    assertThat(output).contains("Model checking completed. No error has been found.");
    Matcher states = STATES.matcher(output);
    assertThat(states.find()).as(output).isTrue();
    assertThat(Integer.parseInt(states.group(1))).isGreaterThan(atLeast);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          SlotSemaphore  | no second look at A                     | Clients = {"a", "b"} Slots = {1, 2} | Capacity
          SlotSemaphore  | verification looks at A only            | Clients = {"a", "b"} Slots = {1, 2} | Exclusion
          Fencing        | no second look after the draw           | Processes = {"a", "b"} Most = 3     | Order
          Fencing        | no second look after the draw           | Processes = {"a", "b"} Most = 3     | Rightful
          Fencing        | the resource does not check             | Processes = {"a", "b"} Most = 3     | Order
          Fencing        | the token is read when it is used       | Processes = {"a", "b"} Most = 3     | Order
          TokenSemaphore | verification asks only for the consumer | Clients = {"a", "b"} Tokens = {1}   | Capacity
          TokenSemaphore | held while it is verified               | Clients = {"a", "b"} Tokens = {1}   | Capacity
          ExpiringMutex  | whoever consumes holds                  | Clients = {"a", "b"} MostMessages = 2 | Exclusion
          ExpiringMutex  | it expires while it is used             | Clients = {"a", "b"} MostMessages = 2 | Exclusion
          """)
  void findsTheMistake(String model, String variant, String constants, String broken)
      throws Exception {
    assertThat(check(model, constants, variant, broken))
        .contains("Invariant " + broken + " is violated");
  }

  private String check(String model, String constants, String variant, String invariants)
      throws IOException, InterruptedException {
    String text = Files.readString(MODELS.resolve(model + ".tla"));
    assertThat(variant.equals("as designed") || text.contains('"' + variant + '"')).isTrue();
    Files.writeString(folder.resolve(model + ".tla"), text);
    Files.writeString(
        folder.resolve(model + ".cfg"),
        "SPECIFICATION Spec\nCONSTANTS %s\nVariant = \"%s\"\nINVARIANTS %s\n"
            .formatted(constants, variant, invariants));
    Process tlc =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:+UseParallelGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "tlc2.TLC",
                    "-deadlock",
                    "-workers",
                    "1",
                    model))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    try {
      assertThat(tlc.waitFor(5, TimeUnit.MINUTES)).isTrue();
    } finally {
      tlc.destroyForcibly();
    }
    return Files.readString(folder.resolve("out"), StandardCharsets.UTF_8);
  }
}
