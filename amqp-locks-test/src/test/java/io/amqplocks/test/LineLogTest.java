package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.StringReader;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LineLogTest {

  private static final int LINES = 5 * LineLog.PASSED_KEPT;
  private static final Duration SOON = Duration.ofMinutes(1);

  private final LineLog log = new LineLog();

  @Test
  void keepsOnlyTheLastOfTheLinesPassed() throws InterruptedException {
    write();
    for (int number = 0; number < LINES; number++) {
      assertThat(log.await(line -> true, SOON)).hasValue("line " + number);
    }
    assertThat(log.lines())
        .hasSizeBetween(LineLog.PASSED_KEPT / 2, LineLog.PASSED_KEPT)
        .endsWith("line " + (LINES - 1));
    assertThat(log.await(line -> true, Duration.ZERO)).isEmpty();
  }

  @Test
  void keepsWhatNobodyHasSeen() throws InterruptedException {
    write();
    assertThat(log.lines()).hasSize(LINES);
    assertThat(log.await(line -> line.equals("line 2999"), SOON)).isPresent();
    assertThat(log.await(line -> true, SOON)).hasValue("line 3000");
    assertThat(log.lines()).contains("line 2998", "line " + (LINES - 1));
  }

  private void write() throws InterruptedException {
    String text =
        IntStream.range(0, LINES).mapToObj(n -> "line " + n).collect(Collectors.joining("\n"));
    log.readFrom(new BufferedReader(new StringReader(text)), "test-lines");
    assertThat(log.awaitEnd(SOON)).isTrue();
  }
}
