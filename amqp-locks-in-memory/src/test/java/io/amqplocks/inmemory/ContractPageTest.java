package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockKind;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** The table of CONTRACT has each test of the contract, once. */
class ContractPageTest {

  private static final Path PAGE =
      Path.of("").toAbsolutePath().resolveSibling("docs").resolve("CONTRACT.md");
  private static final Pattern ROW =
      Pattern.compile(
          "^\\| [^|]+ \\| `([a-z]\\w+)` \\| passes \\| passes \\| (passes|refused|by kind) \\|$",
          Pattern.MULTILINE);
  private static final Pattern KIND =
      Pattern.compile(
          "^\\| [^|]+ \\| `([A-Z_]+)` \\| passes \\| passes \\| (passes|refused) \\|$",
          Pattern.MULTILINE);

  /** What the table says of each test on the broker in the JVM. */
  static Map<String, String> embedded() throws IOException {
    return rows(ROW);
  }

  /** What the second table says of each kind of lock there, for the tests that are "by kind". */
  static Map<String, String> kinds() throws IOException {
    return rows(KIND);
  }

  private static Map<String, String> rows(Pattern table) throws IOException {
    return table
        .matcher(Files.readString(PAGE))
        .results()
        .collect(Collectors.toMap(row -> row.group(1), row -> row.group(2)));
  }

  @Test
  void theTableHasAllTests() throws IOException {
    List<String> tests =
        Arrays.stream(LockContract.class.getDeclaredMethods())
            .filter(ContractPageTest::isTest)
            .map(Method::getName)
            .toList();
    assertThat(embedded().keySet()).containsExactlyInAnyOrderElementsOf(tests);
  }

  @Test
  void theSecondTableHasAllKinds() throws IOException {
    assertThat(kinds().keySet())
        .containsExactlyInAnyOrderElementsOf(LockContract.kinds().map(LockKind::name).toList());
  }

  private static boolean isTest(Method method) {
    return method.isAnnotationPresent(Test.class)
        || method.isAnnotationPresent(ParameterizedTest.class);
  }
}
