package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AloneTest {

  /** Two seconds are enough for several turns, though the machine stalls. */
  private static final Effort SHORT =
      new Effort(
          Duration.ofMillis(10),
          Duration.ofSeconds(2),
          Duration.ZERO,
          Duration.ZERO,
          0,
          0,
          0,
          0,
          0,
          0,
          0);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aKindThatFailsIsLeftOutAndTheOthersGoOn(boolean whileItIsWarmedUp) {
    Recorder recorder = new Recorder(Scenario.ALONE);
    Map<Kind, PeerLock> locks = new LinkedHashMap<>();
    locks.put(
        Kind.R_LOCK,
        wait -> {
          if (whileItIsWarmedUp || !of(Kind.R_LOCK, recorder).isEmpty()) {
            throw new IllegalStateException("says the test");
          }
          return Optional.of(() -> {});
        });
    locks.put(
        Kind.MUTEX,
        wait -> {
          TimeUnit.MILLISECONDS.sleep(1);
          return Optional.of(() -> {});
        });
    Alone.measure(locks, SHORT, recorder);
    assertThat(recorder.failures()).singleElement().asString().contains("says the test");
    assertThat(of(Kind.R_LOCK, recorder)).hasSize(whileItIsWarmedUp ? 0 : 1);
    // More than one turn.
    assertThat(of(Kind.MUTEX, recorder)).hasSizeGreaterThan(100);
  }

  private static List<Double> of(Kind kind, Recorder recorder) {
    return recorder.measurements().stream()
        .filter(measurement -> measurement.kind() == kind)
        .flatMap(measurement -> measurement.values().stream())
        .toList();
  }
}
