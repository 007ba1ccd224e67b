package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The type in a source file has the file's name, in all modules and tests. */
class SourceFileNamesTest {

  private static final Pattern TOP_LEVEL =
      Pattern.compile(
          "^(?:(?:public|final|abstract|sealed|non-sealed) )*(?:class|interface|enum|record|@interface) (\\w+)",
          Pattern.MULTILINE);

  @Test
  void areThoseOfTheirTypes() throws IOException {
    List<String> others = new ArrayList<>();
    for (Path file : sources()) {
      String name = file.getFileName().toString().replace(".java", "");
      Matcher type = TOP_LEVEL.matcher(Files.readString(file));
      while (type.find()) {
        if (!type.group(1).equals(name)) {
          others.add(file + " has " + type.group(1));
        }
      }
    }
    assertThat(others).isEmpty();
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = files(".java");
    assertThat(sources).hasSizeGreaterThan(500);
    return sources;
  }

  /** The files of all modules whose names end so, but for what builds leave. */
  static List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.walk(Snippets.file(""))) {
      return files
          .filter(file -> file.toString().endsWith(ending))
          .filter(file -> !file.toString().contains("/target/"))
          .toList();
    }
  }
}
