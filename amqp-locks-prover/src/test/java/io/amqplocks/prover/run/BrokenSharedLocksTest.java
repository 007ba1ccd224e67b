package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.run.BrokenClient.Defect;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** As {@link BrokenClientsTest}, with locks that have several holders. */
@Tag("one-jdk")
@BrokerTest
class BrokenSharedLocksTest {

  private final Broker broker;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  BrokenSharedLocksTest(Broker broker) {
    this.broker = broker;
  }

  /** A writer works beside a reader. */
  @ParameterizedTest
  @CsvSource({
    "NONE, ",
    "LOCKS_NOTHING, EXCLUSION",
    "BELIEVES_TOO_LONG, EXCLUSION",
    "LOSES_ALL, LOSS",
    "NOTIFIES_ALWAYS, NOTIFICATION",
    "TOKENS_FALL, FENCING_ORDER",
    "KEEPS_ALL, LIVENESS",
  })
  void isFoundWithAReadWriteLock(Defect defect, @org.jspecify.annotations.Nullable Promise broken)
      throws InterruptedException {
    LockRef lock = new LockRef(LockRef.Kind.READ_WRITE_LOCK, "r");
    Plan plan =
        new Plan(
            (defect + "r").hashCode() & 0xFFFFFFL,
            2,
            List.of(new Plan.Slots(lock, 1)),
            List.of(
                new Plan.Work(0, lock, new Load(1, true, false, 5_000, 5_000, 0)),
                new Plan.Work(1, lock, new Load(1, true, true, 5_000, 5_000, 0))),
            List.of(),
            List.of(),
            Duration.ofSeconds(4));
    Set<Promise> found = BrokenClient.found(defect, plan, broker, folder, broken);
    if (broken == null) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found).contains(broken);
    }
  }

  /** Two clients work, and a third one takes slots away. */
  @ParameterizedTest
  @CsvSource({
    "NONE, SLOT_SEMAPHORE, false",
    "IGNORES_RESIZE, SLOT_SEMAPHORE, true",
    "NONE, CLASSIC_TOKENS, false",
    "IGNORES_RESIZE, CLASSIC_TOKENS, true",
    "NONE, QUORUM_TOKENS, false",
    "IGNORES_RESIZE, QUORUM_TOKENS, true",
  })
  void thatDoesNotTakeSlotsAwayIsFound(Defect defect, LockRef.Kind kind, boolean isFound)
      throws InterruptedException {
    LockRef lock = new LockRef(kind, "s");
    Load load = new Load(1, false, false, 5_000, 5_000, 0);
    Plan plan =
        new Plan(
            (defect.name() + kind).hashCode() & 0xFFFFFFL,
            3,
            List.of(new Plan.Slots(lock, 3)),
            List.of(new Plan.Work(0, lock, load), new Plan.Work(1, lock, load)),
            List.of(new Plan.Resize(2, lock, 1, Duration.ofMillis(500))),
            List.of(),
            Duration.ofSeconds(4));
    Set<Promise> found =
        BrokenClient.found(defect, plan, broker, folder, isFound ? Promise.CAPACITY : null);
    // A pause of the machine may end a client as well.
    found.remove(Promise.LIVENESS);
    assertThat(found).isEqualTo(isFound ? EnumSet.of(Promise.CAPACITY) : Set.of());
  }
}
