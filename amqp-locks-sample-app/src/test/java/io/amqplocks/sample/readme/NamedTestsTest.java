package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The tests that the documents name as proof are there. */
class NamedTestsTest {

  /**
   * As in {@code `MutexTest`}, {@code `MutexTest.oneHolder`} and {@code `MutexTest.oneHolder…`}.
   */
  private static final Pattern NAMED = Pattern.compile("`(\\w+Test)(?:\\.(\\w+)(…)?)?`");

  /** As in {@code `.oneHolder`}, {@code `.oneHolder…`} and {@code `oneHolder…`}, in a table. */
  private static final Pattern NAMED_ALONE = Pattern.compile("`(?:\\.(\\w+)(…)?|(\\w+)(…))`");

  private static final Pattern SUPERCLASS = Pattern.compile("class \\w+ extends (\\w+)");

  private final Map<String, String> tests = files("glob:**/src/test/**.{java,kt}");

  NamedTestsTest() throws IOException {}

  @Test
  void areThere() throws IOException {
    List<String> missing = new ArrayList<>();
    files("glob:**/*.md")
        .forEach(
            (page, text) -> {
              Matcher named = NAMED.matcher(text);
              while (named.find()) {
                if (!isThere(named.group(1), named.group(2), named.group(3) != null)) {
                  missing.add(page + ": " + named.group());
                }
              }
            });
    assertThat(missing).isEmpty();
  }

  /** GUARANTEES names the class above a table. It may be any here. */
  @Test
  void areThereWithoutTheirClass() throws IOException {
    String all = String.join("\n", tests.values());
    List<String> found = new ArrayList<>();
    files("glob:**/docs/GUARANTEES.md")
        .forEach(
            (page, text) -> {
              Matcher named = NAMED_ALONE.matcher(text);
              while (named.find()) {
                String method = named.group(1) == null ? named.group(3) : named.group(1);
                boolean more = named.group(2) != null || named.group(4) != null;
                found.add(method);
                assertThat(all).as(page).containsPattern("void " + method + (more ? "" : "\\("));
              }
            });
    assertThat(found).hasSizeGreaterThan(20);
  }

  private boolean isThere(String test, @Nullable String method, boolean more) {
    String java = tests.get(test + ".java");
    String text = java == null ? tests.get(test + ".kt") : java;
    if (text == null || method == null) {
      return text != null;
    }
    if (Pattern.compile("void " + method + (more ? "" : "\\(")).matcher(text).find()) {
      return true;
    }
    Matcher superclass = SUPERCLASS.matcher(text);
    return superclass.find() && isThere(superclass.group(1), method, more);
  }

  /** The text of each file, by its name; the same name twice is both texts. */
  private static Map<String, String> files(String pattern) throws IOException {
    Path root = Snippets.file("");
    var matcher = root.getFileSystem().getPathMatcher(pattern);
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> matcher.matches(file) && !file.toString().contains("/target/"))
          .collect(
              Collectors.toMap(
                  file -> file.getFileName().toString(), NamedTestsTest::text, String::concat));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
