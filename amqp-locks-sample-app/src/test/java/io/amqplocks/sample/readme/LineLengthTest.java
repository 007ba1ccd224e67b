package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The formatter leaves comments alone, and nothing formats the pages. */
class LineLengthTest {

  private static final int COLUMNS = 100;

  private static final Pattern COMMENT = Pattern.compile(" *(/\\*\\*|\\*|//).*");

  /** Tables, headings, and what cannot be broken. */
  private static final Pattern NOT_PROSE = Pattern.compile(" *[|#<].*|[^ ]+|.*https?://.*");

  @Test
  void ofCommentsIsLimited() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path file : SourceFileNamesTest.files(".java")) {
      List<String> lines = Files.readAllLines(file);
      boolean code = false;
      for (String line : lines) {
        code = line.contains("<pre>") || (code && !line.contains("</pre>"));
        if (!code && line.length() > COLUMNS && COMMENT.matcher(line).matches()) {
          tooLong.add(file.getFileName() + ": " + line.strip());
        }
      }
    }
    assertThat(tooLong).isEmpty();
  }

  @Test
  void ofProseInPagesIsLimited() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path file : SourceFileNamesTest.files(".md")) {
      boolean code = false;
      for (String line : Files.readAllLines(file)) {
        if (line.strip().startsWith("```")) {
          code = !code;
        } else if (!code && line.length() > COLUMNS && !NOT_PROSE.matcher(line).matches()) {
          tooLong.add(file.getFileName() + ": " + line.strip());
        }
      }
    }
    assertThat(tooLong).isEmpty();
  }
}
