package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuiteTest {

  @Test
  void eachRowCanBeAskedFor() {
    assertThat(Suite.rows()).extracting(RowSource::name).doesNotHaveDuplicates();
    List<CorePath> paths = Suite.paths();
    assertThat(paths)
        .allSatisfy(
            path ->
                assertThat(Suite.path(path.name().replace(",", "")).name())
                    .startsWith(path.name()));
  }

  @Test
  void jmhHasItsBenchmark() throws Exception {
    try (InputStream list = OneSide.class.getResourceAsStream("/META-INF/BenchmarkList")) {
      assertThat(list).as("what JMH's annotation processor leaves behind").isNotNull();
      assertThat(new String(list.readAllBytes(), StandardCharsets.UTF_8)).contains("OneSide");
    }
  }
}
