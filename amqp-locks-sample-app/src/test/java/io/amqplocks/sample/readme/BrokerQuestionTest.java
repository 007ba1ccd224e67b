package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Nobody asks which broker it is, in all modules and tests, but those who are named here. */
class BrokerQuestionTest {

  private static final Pattern QUESTION =
      Pattern.compile("\\bgetServerProperties\\(|\\.product\\(\\)");

  private static final Set<String> MAY_ASK =
      Set.of(
          // What a broker can do.
          "BrokerProfile",
          // The test kit says which broker it has started, and these are tests of it.
          "Address",
          "BrokerAddressTest",
          "BrokerOffersTest",
          "BrokerTestTest",
          // A benchmark says on which broker it ran.
          "Raw",
          // They choose what the sample shows on the broker in the JVM, and say which broker it is.
          "Stage",
          "TestSampleApplication",
          // A stub says which broker it plays.
          "AuxiliaryReaderTest");

  @Test
  void onlyTheseAskIt() throws IOException {
    List<String> asking = new ArrayList<>();
    for (String ending : List.of(".java", ".kt")) {
      for (Path file : SourceFileNamesTest.files(ending)) {
        if (QUESTION.matcher(Files.readString(file)).find()) {
          asking.add(file.getFileName().toString().replace(ending, ""));
        }
      }
    }
    assertThat(asking).containsExactlyInAnyOrderElementsOf(MAY_ASK);
  }
}
