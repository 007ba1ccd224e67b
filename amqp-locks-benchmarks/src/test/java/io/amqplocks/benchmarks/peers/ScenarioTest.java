package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Each scenario measures what it says. How fast a lock is, is not for a test to say. */
@Tag("one-jdk")
@ResourceLock("all processors") // since it starts several JVMs
class ScenarioTest {

  private static final Duration SHORT = Duration.ofMillis(100);

  /** The operating system tells the time on a processor in steps of a hundredth of a second. */
  private static final Duration LONGER = Duration.ofSeconds(1);

  private static final Effort LITTLE =
      new Effort(SHORT, SHORT, LONGER, LONGER, 2, 10, 10, 3, 3, 20, 1);
  private static final List<Kind> KINDS = List.of(Kind.MUTEX, Kind.CLASSIC_TOKENS);

  @Test
  void givesTheNumbersOfEachKind() throws Exception {
    try (Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS), null)) {
      assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
      for (Scenario scenario : Scenario.values()) {
        List<Kind> kinds = KINDS.stream().filter(scenario::suits).toList();
        Recorder recorder = measured(systems, scenario, kinds);
        assertThat(recorder.failures()).isEmpty();
        assertThat(recorder.measurements())
            .filteredOn(each -> each.metric() == scenario.metric())
            .as("%s", scenario)
            .extracting(Measurement::kind)
            .containsExactlyElementsOf(kinds);
        assertThat(recorder.measurements()).allSatisfy(ScenarioTest::isPlausible);
      }
    }
  }

  /** Measured again if a busy machine let nobody acquire anything in a slice. */
  private static Recorder measured(Systems systems, Scenario scenario, List<Kind> kinds)
      throws Exception {
    Recorder recorder = new Recorder(scenario);
    scenario.measure(systems, kinds, LITTLE, recorder);
    for (int again = 0; again < 3 && hasStalled(recorder); again++) {
      recorder = new Recorder(scenario);
      scenario.measure(systems, kinds, LITTLE, recorder);
    }
    return recorder;
  }

  private static boolean hasStalled(Recorder recorder) {
    return recorder.measurements().stream()
        .filter(each -> each.metric() == Metric.RATE)
        .anyMatch(each -> each.values().contains(0.0));
  }

  private static void isPlausible(Measurement measured) {
    switch (measured.metric()) {
      case LEAST_SHARE -> assertThat(measured.values()).hasSize(2).allMatch(share -> share <= 1);
      case RATE -> assertThat(measured.values()).hasSize(2).allMatch(rate -> rate > 0);
      case SERVER_CPU, CLIENT_CPU ->
          assertThat(measured.values()).hasSize(2).allMatch(micros -> micros > 0);
      // The broker sees the end of the connections; no time to live has to pass.
      case FREED -> assertThat(measured.values()).hasSize(1).allMatch(micros -> micros < 20e6);
      case LATENCY -> assertThat(measured.values()).hasSizeGreaterThan(1).allMatch(us -> us > 0);
      case GROWTH -> assertThat(measured.values()).hasSize(1).allMatch(ratio -> ratio > 0);
      case VERIFICATION -> assertThat(measured.values()).hasSize(20).allMatch(us -> us > 0);
      // It may be anything, for so few locks.
      case MEMORY, CLIENT_HEAP -> assertThat(measured.values()).hasSize(1);
    }
  }

  @Test
  void allThatWereHeldAreReleased() throws Exception {
    Recorder recorder = new Recorder(Scenario.HELD);
    try (Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS), null)) {
      assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
      Scenario.HELD.measure(systems, List.of(Kind.MUTEX), LITTLE, recorder);
      assertThat(recorder.failures()).isEmpty();
      assertThat(recorder.measurements())
          .extracting(Measurement::metric)
          .contains(Metric.LATENCY, Metric.GROWTH, Metric.CLIENT_HEAP, Metric.VERIFICATION);
      PeerClient other = systems.client(Peer.AMQP_LOCKS, 1);
      for (int i = 0; i < LITTLE.held(); i++) {
        other.lock(Kind.MUTEX, Scenario.HELD.lock() + "-" + i).acquire().close();
      }
    }
  }

  @Test
  void theServersOfTwoSystemsAreOnAProcessorForTheirLeases() throws Exception {
    Recorder recorder;
    try (Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS, Peer.REDISSON), null)) {
      assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
      assumeTrue(
          systems.server(Peer.AMQP_LOCKS).processes().get().findAny().isPresent(),
          "the broker is no process of this machine");
      recorder = measured(systems, Scenario.PROCESSES, List.of(Kind.MUTEX, Kind.R_LOCK));
    }
    assertThat(recorder.failures()).isEmpty();
    assertThat(recorder.measurements())
        .filteredOn(each -> each.metric() == Metric.SERVER_CPU)
        .allSatisfy(ScenarioTest::isPlausible)
        .extracting(Measurement::kind)
        .containsExactly(Kind.MUTEX, Kind.R_LOCK);
  }

  @Test
  void aKindTakesPartWhereItCan() {
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> each.suits(Kind.SHED_LOCK_JDBC))
        .as("nobody can wait for it")
        .containsExactly(Scenario.ALONE, Scenario.NEW_NAME, Scenario.BUSY, Scenario.HELD);
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> !each.suits(Kind.PERSISTENT_MUTEX))
        .as("its queues stay")
        .containsExactly(Scenario.NEW_NAME, Scenario.HELD);
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> !each.suits(Kind.SLOT_SEMAPHORE))
        .as("its queues stay")
        .containsExactly(Scenario.NEW_NAME, Scenario.HELD);
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> !each.suits(Kind.WRITE_LOCK))
        .as("a connection has too few channels")
        .containsExactly(Scenario.HELD);
    assertThat(Scenario.NEW_NAME.suits(Kind.MUTEX)).isTrue();
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> each.suits(Kind.MUTEX_FENCED))
        .as("the rest would take long")
        .containsExactly(
            Scenario.ALONE,
            Scenario.THREADS,
            Scenario.CLIENTS,
            Scenario.PROCESSES,
            Scenario.HAND_OVER,
            Scenario.PROCESS_HAND_OVER);
    assertThat(List.of(Scenario.values()))
        .filteredOn(each -> each.suits(Kind.CLASSIC_TOKENS_ANNOTATED))
        .as("it cannot be kept")
        .containsExactly(Scenario.ALONE, Scenario.THREADS, Scenario.CLIENTS, Scenario.PROCESSES);
    assertThat(Comparison.all())
        .allMatch(each -> each.scenario().suits(each.ours()) && each.scenario().suits(each.peer()));
  }

  @Test
  void aBusyLockIsFreeAfterwards() throws Exception {
    Recorder recorder = new Recorder(Scenario.BUSY);
    try (Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS), null)) {
      assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
      Scenario.BUSY.measure(systems, List.of(Kind.CLASSIC_TOKENS), LITTLE, recorder);
      assertThat(recorder.failures()).isEmpty();
      PeerLock all = systems.lock(Scenario.BUSY, Kind.CLASSIC_TOKENS, 0);
      List<AutoCloseable> leases = new ArrayList<>();
      for (int slot = 0; slot < Kind.CLASSIC_TOKENS.slots(); slot++) {
        leases.add(all.acquire());
      }
      for (AutoCloseable lease : leases) {
        lease.close();
      }
    }
  }

  @Test
  void aFailureOfOneKindLeavesTheOthers() throws Exception {
    Recorder recorder = new Recorder(Scenario.THREADS);
    try (Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS), null)) {
      assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
      // A kind whose system does not run.
      Scenario.THREADS.measure(systems, List.of(Kind.R_LOCK, Kind.MUTEX), LITTLE, recorder);
    }
    assertThat(recorder.failures())
        .singleElement()
        .asString()
        .startsWith("8 threads of one client, RLock: ");
    Map<Kind, Integer> counts =
        recorder.measurements().stream()
            .collect(Collectors.toMap(Measurement::kind, each -> each.values().size()));
    assertThat(counts).containsExactly(Map.entry(Kind.MUTEX, 2));
  }
}
