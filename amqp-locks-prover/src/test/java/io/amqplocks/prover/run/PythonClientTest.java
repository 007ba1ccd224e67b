package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Clients of this library and the one in Python, which is written to {@code docs/PROTOCOL.md}
 * alone, at once on the same locks.
 */
@Isolated("its clients have heartbeats of a second")
@BrokerTest(everyLine = true)
class PythonClientTest {

  private static final Path PROGRAM = Path.of("src", "main", "python", "client.py");

  private static final List<LockRef> LOCKS =
      Stream.of(
              LockRef.Kind.MUTEX,
              LockRef.Kind.EXCLUSIVE_QUEUE_MUTEX,
              LockRef.Kind.SLOT_SEMAPHORE,
              LockRef.Kind.CLASSIC_TOKENS,
              LockRef.Kind.QUORUM_TOKENS)
          .map(kind -> new LockRef(kind, "shared." + kind))
          .toList();

  /** What is checked of a lock whose slots change is less. */
  private static final LockRef RESIZED = new LockRef(LockRef.Kind.SLOT_SEMAPHORE, "resized");

  /** What hardly happens without a fault. */
  private static final Set<Event.What> FAILURES =
      Set.of(Event.What.FAILED, Event.What.UNCERTAIN, Event.What.LOST);

  private static final Load SHORT = new Load(1, false, false, 5_000, 1_000, 500);

  /** Long enough for a verification, which is due after half a heartbeat. */
  private static final Load LONG = new Load(1, false, false, 5_000, 700_000, 4_000_000);

  /** A slow machine gets rounds of so many times the usual length. */
  private static final int LONGEST = 8;

  private final Broker broker;
  private final List<List<String>> programs = new ArrayList<>();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  PythonClientTest(Broker broker) {
    this.broker = broker;
  }

  @BeforeEach
  void findPython() throws IOException, InterruptedException {
    programs.add(Prover.ownClient());
    // Debian's pika is for Debian's Python, which need not be the first on the path.
    for (String python : List.of("python3", "/usr/bin/python3")) {
      if (programs.size() == 1 && hasPika(python)) {
        programs.add(List.of(python, "-B", PROGRAM.toAbsolutePath().toString()));
      }
    }
    if (programs.size() == 1) {
      String reason = "There is no python3 with pika here; on Debian: apt install python3-pika";
      assertThat(isRequired()).as(reason).isFalse();
      abort(reason);
    }
  }

  private static boolean hasPika(String python) throws InterruptedException {
    try {
      return new ProcessBuilder(python, "-c", "import pika")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException noSuchProgram) {
      return false;
    }
  }

  private static boolean isRequired() {
    return "true".equals(System.getenv("CI"))
        || "true".equals(System.getenv("AMQP_LOCKS_BROKER_REQUIRED"));
  }

  @Test
  void sharesLocks() throws InterruptedException, IOException {
    int times = 1;
    Round round = round(2, List.of(), times);
    // A pause of the machine costs all leases that are held just then, or much of the time.
    while (times < LONGEST && (failures(round).size() >= 10 * times || !areServed(round, 0))) {
      times *= 2;
      round = round(2, List.of(), times);
    }
    assertThat(failures(round)).hasSizeLessThan(10 * times);
    for (LockRef lock : LOCKS) {
      assertThat(leases(round, lock, 0)).as("Java, %s", lock).isGreaterThan(many(lock));
      assertThat(leases(round, lock, 1)).as("Python, %s", lock).isGreaterThan(many(lock));
    }
  }

  @Test
  void sharesLocksWithClientsThatAreKilled() throws InterruptedException, IOException {
    List<Plan.Harm> kills =
        List.of(
            new Plan.Harm(FaultKind.KILL, 0, Duration.ofMillis(1_000), Duration.ZERO),
            new Plan.Harm(FaultKind.KILL, 1, Duration.ofMillis(1_900), Duration.ZERO));
    Round round = round(4, kills, 1);
    // A lock for which nobody waits in line may favor one of them for these seconds.
    for (int times = 2; times <= LONGEST && !areServed(round, 2); times *= 2) {
      round = round(4, kills, times);
    }
    // A line that the kill cut short is recorded as well.
    assertThat(killed(round)).containsOnly("client-1", "client-2");
    for (LockRef lock : LOCKS) {
      assertThat(leases(round, lock, 2)).as("Java, %s", lock).isGreaterThan(many(lock));
      assertThat(leases(round, lock, 3)).as("Python, %s", lock).isGreaterThan(many(lock));
    }
  }

  /** Whether that client, which is one of Java, and the next one got enough of each lock. */
  private static boolean areServed(Round round, int first) {
    return LOCKS.stream()
        .allMatch(
            lock ->
                leases(round, lock, first) > many(lock)
                    && leases(round, lock, first + 1) > many(lock));
  }

  /** Requires that nothing was violated. */
  private Round round(int clients, List<Plan.Harm> harms, int times)
      throws InterruptedException, IOException {
    List<Plan.Slots> slots = new ArrayList<>();
    List<Plan.Work> work = new ArrayList<>();
    for (LockRef lock : LOCKS) {
      slots.add(new Plan.Slots(lock, lock.kind().isSemaphore() ? 2 : 1));
      for (int client = 0; client < clients; client++) {
        work.add(new Plan.Work(client, lock, SHORT));
        work.add(new Plan.Work(client, lock, LONG));
      }
    }
    long seed = System.nanoTime() & 0xFFFFFF;
    // The Python client cannot do that, so it is no change.
    List<Plan.Resize> resizes = List.of(new Plan.Resize(1, RESIZED, 5, Duration.ofMillis(500)));
    slots.add(new Plan.Slots(RESIZED, 2));
    Plan plan =
        new Plan(seed, clients, slots, work, resizes, harms, Duration.ofSeconds(6L * times));
    Round round = new Round(plan, Site.of(broker), programs, folder, Duration.ofSeconds(30));
    round.run();
    Verdict verdict = Verdict.of(plan, round.history(), round.stuck());
    // Losses are counted as failures: in doubt, the Python client gives up all that it holds.
    assertThat(
            verdict.violations().stream()
                .filter(each -> each.promise() != Promise.LOSS)
                .map(Violation::text))
        .as(errors())
        .isEmpty();
    return round;
  }

  /** A queue is made and deleted for each lease of some kinds, which takes far longer. */
  private static int many(LockRef lock) {
    return switch (lock.kind()) {
      case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE -> 3;
      default -> 20;
    };
  }

  private static long leases(Round round, LockRef lock, int client) {
    return round.history().claims().stream()
        .filter(claim -> claim.lock().equals(lock))
        .filter(claim -> claim.client().equals("client-" + (client + 1)))
        .count();
  }

  private static List<String> killed(Round round) {
    return round.history().entries().stream()
        .filter(entry -> entry.fault() != null)
        .map(entry -> String.valueOf(entry.client()))
        .toList();
  }

  private static List<Entry> failures(Round round) {
    return round.history().entries().stream()
        .filter(entry -> entry.event() != null && FAILURES.contains(entry.event().what()))
        .toList();
  }

  private String errors() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      StringBuilder result = new StringBuilder();
      for (Path file : files.toList()) {
        result.append(file.getFileName()).append(": ").append(Files.readString(file));
      }
      return result.toString();
    }
  }
}
