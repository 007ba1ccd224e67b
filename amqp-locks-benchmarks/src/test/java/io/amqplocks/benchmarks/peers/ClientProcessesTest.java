package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.amqplocks.benchmarks.Samples;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What is told to several processes, and what becomes of one that cannot do it. */
@Timeout(300)
@Tag("one-jdk")
@ResourceLock("all processors") // since it starts several JVMs
class ClientProcessesTest {

  private static final Duration TIME = Duration.ofSeconds(1);
  private static final Effort LITTLE = new Effort(TIME, TIME, TIME, TIME, 1, 10, 10, 3, 3, 20, 1);
  private static final String LOCK = Scenario.PROCESSES.lock();

  @Test
  void doWhatTheyCanAndSayWhatTheyCannot() throws Exception {
    List<ChildJvm> children;
    try (Systems systems = systems();
        ClientProcesses processes =
            ClientProcesses.start(ClientProcesses.COUNT, addresses(systems))) {
      children = processes.processes();
      // A kind whose system does not run.
      assertThatThrownBy(() -> processes.contend(Kind.R_LOCK, LOCK, TIME))
          .hasMessageContaining("no server of Redisson");
      // The first leases of a process take long, on a busy machine longer than a call timeout.
      await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptionsInstanceOf(IllegalStateException.class)
          .until(
              () -> processes.contend(Kind.MUTEX, LOCK, TIME),
              works -> works.stream().allMatch(work -> work.inTime() > 0));
      assertThat(processes.contend(Kind.MUTEX, LOCK, TIME))
          .hasSize(ClientProcesses.COUNT)
          .allSatisfy(
              work -> {
                assertThat(work.threads()).isEqualTo(ClientProcesses.THREADS);
                assertThat(work.leases()).isGreaterThanOrEqualTo(work.inTime());
                assertThat(work.cpu()).isPositive();
              });
      assertThat(processes.processes()).isEqualTo(children);
    }
    assertThat(children).hasSize(ClientProcesses.COUNT).noneMatch(ChildJvm::isAlive);
  }

  @Test
  void oneThatDiedIsAFailureOfOneKindAndIsReplaced() throws Exception {
    Recorder recorder = new Recorder(Scenario.PROCESSES);
    try (Systems systems = systems();
        ClientProcesses processes =
            ClientProcesses.start(ClientProcesses.COUNT, addresses(systems))) {
      processes.processes().get(2).killNow();
      List<Kind> kinds = List.of(Kind.CLASSIC_TOKENS, Kind.MUTEX);
      Processes.measure(systems, processes, kinds, LITTLE, recorder);
      assertThat(processes.processes()).hasSize(ClientProcesses.COUNT).allMatch(ChildJvm::isAlive);
    }
    assertThat(recorder.failures())
        .singleElement()
        .asString()
        .startsWith("4 processes with 4 threads each, 5 classic tokens: ")
        .contains("A process did not answer");
    assertThat(recorder.measurements())
        .isNotEmpty()
        .extracting(Measurement::kind)
        .containsOnly(Kind.MUTEX);
  }

  /** What is measured is not longer than all of it took, nor is it negative. */
  @Test
  void oneHandsOverToTheOther() throws Exception {
    Duration pause = Duration.ofMillis(200);
    try (Systems systems = systems();
        ClientProcesses processes = ClientProcesses.start(2, addresses(systems))) {
      for (Kind kind : List.of(Kind.MUTEX, Kind.CLASSIC_TOKENS)) {
        long start = System.nanoTime();
        assertThat(processes.handOver(kind, LOCK, pause))
            .as("%s", kind)
            .isBetween(1L, System.nanoTime() - start - pause.toNanos());
        allIsFree(systems, kind);
      }
      assertThat(processes.processes()).hasSize(2);
    }
  }

  /** What the processes held, and would still answer, meets no other kind. */
  @Test
  void aHandOverThatFailsIsOneKindsFailure() throws Exception {
    Recorder recorder = new Recorder(Scenario.PROCESS_HAND_OVER);
    try (Systems systems = systems();
        ClientProcesses processes = ClientProcesses.start(2, addresses(systems))) {
      assertThatThrownBy(() -> processes.handOver(Kind.R_LOCK, LOCK, TIME))
          .hasMessageContaining("no server of Redisson");
      assertThat(processes.processes()).isEmpty();
      assertThat(processes.complete()).isTrue();
      processes.processes().get(1).killNow();
      assertThatThrownBy(() -> processes.handOver(Kind.CLASSIC_TOKENS, LOCK, TIME))
          .isInstanceOf(IllegalStateException.class);
      assertThat(processes.processes()).as("one held five tokens").isEmpty();
      allIsFree(systems, Kind.CLASSIC_TOKENS);
      HandingOver.betweenProcesses(processes, List.of(Kind.MUTEX), LITTLE, recorder);
    }
    assertThat(recorder.failures()).isEmpty();
    assertThat(recorder.measurements())
        .singleElement()
        .satisfies(each -> assertThat(each.values()).hasSize(3).allMatch(micros -> micros > 0));
  }

  private static void allIsFree(Systems systems, Kind kind) throws Exception {
    List<AutoCloseable> all = new ArrayList<>();
    while (all.size() < kind.slots()) {
      all.add(systems.client(Peer.AMQP_LOCKS, 0).lock(kind, LOCK).acquire());
    }
    for (AutoCloseable lease : all) {
      lease.close();
    }
  }

  @Test
  void whatProcessesDidIsAddedUp() {
    Work one = new Work(4, 10, 13, Duration.ofNanos(5_000));
    Work other = new Work(4, 100, 104, Duration.ofNanos(70_000));
    assertThat(one.and(other)).isEqualTo(new Work(8, 110, 117, Duration.ofNanos(75_000)));
    assertThat(Work.parse(other.words())).isEqualTo(other);
  }

  @Test
  void theTimeOfProcessesThatThereAreCounts() {
    CpuTimes before = new CpuTimes(Map.of(1L, Duration.ofMillis(30), 2L, Duration.ofMillis(500)));
    CpuTimes after = new CpuTimes(Map.of(1L, Duration.ofMillis(50), 3L, Duration.ofMillis(7)));
    assertThat(after.since(before)).hasValue(Duration.ofMillis(27));
    assertThat(new CpuTimes(Map.of()).since(before)).isEmpty();
    assertThat(CpuTimes.microsOf(Duration.ofMillis(27), 9)).isEqualTo(3_000);
  }

  @Test
  void growthIsTheLastByTheFirst() {
    Samples first = new Samples();
    Samples last = new Samples();
    first.add(20);
    last.add(50);
    assertThat(Held.growth(first, last)).isEqualTo(2.5);
  }

  private static Systems systems() throws Exception {
    Systems systems = Systems.start(List.of(Peer.AMQP_LOCKS), null);
    assumeTrue(systems.skipped().isEmpty(), () -> systems.skipped().toString());
    return systems;
  }

  private static Map<Peer, String> addresses(Systems systems) {
    return Map.of(Peer.AMQP_LOCKS, systems.server(Peer.AMQP_LOCKS).address());
  }
}
