package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** By a clock that each operation advances. */
class GrowingTest {

  private static final List<Integer> SIZES = List.of(1, 10, 100);

  private final List<String> log = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private long nanos;

  /** Takes so many seconds for each of what there is, and fails at 10 if it is to. */
  private final class Slow implements Growing.Subject {
    private final String name;
    private final double seconds;
    private final boolean fails;

    Slow(String name, double seconds, boolean fails) {
      this.name = name;
      this.seconds = seconds;
      this.fails = fails;
    }

    @Override
    public OptionalDouble grow(int size, TimeLimit limit) throws Exception {
      for (int i = 0; i < size; i++) {
        limit.check();
        nanos += (long) (seconds * 1e9);
      }
      if (fails && size == 10) {
        throw new IllegalStateException("says the test");
      }
      return OptionalDouble.of(size);
    }

    @Override
    public List<Double> probe(int size, TimeLimit limit) {
      log.add(name + size);
      return List.of(size * 1.0);
    }

    @Override
    public void close() {
      log.add("close " + name);
    }
  }

  private List<Grown> measure(Map<Kind, Growing.Subject> subjects) {
    return growing(Growth.LOCKS).measure(subjects, SIZES, 0, 2);
  }

  private Growing growing(Growth growth) {
    return new Growing(
        growth,
        Duration.ofSeconds(5),
        () -> nanos,
        (kind, failure) -> failures.add(kind + ": " + failure.getMessage()));
  }

  @Test
  void whoTakesTooLongIsGivenUpAndTheOthersGoOn() {
    Map<Kind, Growing.Subject> subjects = new LinkedHashMap<>();
    subjects.put(Kind.MUTEX, new Slow("a", 0.001, false));
    subjects.put(Kind.R_LOCK, new Slow("b", 1, false));
    assertThat(measure(subjects))
        .containsExactlyInAnyOrder(
            new Grown(Growth.LOCKS, Kind.MUTEX, 1, List.of(1.0, 1.0), 1.0, null),
            new Grown(Growth.LOCKS, Kind.R_LOCK, 1, List.of(1.0, 1.0), 1.0, null),
            new Grown(Growth.LOCKS, Kind.R_LOCK, 10, List.of(), null, 5L),
            new Grown(Growth.LOCKS, Kind.MUTEX, 10, List.of(10.0, 10.0), 10.0, null),
            new Grown(Growth.LOCKS, Kind.MUTEX, 100, List.of(100.0, 100.0), 100.0, null));
    assertThat(failures).isEmpty();
    // The kinds took turns, and the time of the one was not the other's.
    assertThat(log)
        .containsExactly(
            "b1", "a1", "a1", "b1", "a10", "a10", "a100", "a100", "close a", "close b");
    assertThat(nanos).as("it stopped at the limit").isLessThan(TimeUnit.SECONDS.toNanos(7));
  }

  @Test
  void whoFailsIsLeftOutAndClosed() {
    Map<Kind, Growing.Subject> subjects = new LinkedHashMap<>();
    subjects.put(Kind.MUTEX, new Slow("a", 0.001, true));
    assertThat(measure(subjects)).extracting(Grown::size).containsExactly(1);
    assertThat(failures).containsExactly("MUTEX: says the test");
    assertThat(log).endsWith("close a");
  }

  @Test
  void theFirstSizeIsWarmedUpByRoundsThatDoNotCount() {
    Map<Kind, Growing.Subject> subjects = Map.of(Kind.MUTEX, new Slow("a", 0.001, false));
    List<Grown> grown = growing(Growth.LOCKS).measure(subjects, List.of(1, 10), 3, 2);
    assertThat(log).containsExactly("a1", "a1", "a1", "a1", "a1", "a10", "a10", "close a");
    assertThat(grown).extracting(each -> each.micros().size()).containsExactly(2, 2);
  }

  @Test
  void thereAreNoMoreWaitersThanConnections() {
    Map<Kind, Growing.Subject> subjects = new LinkedHashMap<>();
    subjects.put(Kind.ADVISORY_LOCK, new Slow("a", 0.001, false));
    subjects.put(Kind.R_LOCK, new Slow("b", 0.001, false));
    List<Grown> grown = growing(Growth.WAITERS).measure(subjects, List.of(100, 1_000), 0, 1);
    assertThat(grown).extracting(Grown::size).containsExactlyInAnyOrder(100, 100, 1_000);
    assertThat(log).containsExactlyInAnyOrder("a100", "b100", "b1000", "close a", "close b");
    assertThat(failures).isEmpty();
  }
}
