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
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients with one defect each: the prover must see it, and name the promise that it breaks. */
@Tag("one-jdk")
@BrokerTest
class BrokenClientsTest {

  private final Broker broker;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  BrokenClientsTest(Broker broker) {
    this.broker = broker;
  }

  @ParameterizedTest
  @CsvSource({
    "NONE, ",
    "LOCKS_NOTHING, CAPACITY",
    "BELIEVES_TOO_LONG, CAPACITY",
    "LOSES_ALL, LOSS",
    "NOTIFIES_NOTHING, NOTIFICATION",
    "NOTIFIES_ALWAYS, NOTIFICATION",
    "TOKENS_FALL, FENCING_ORDER",
    "TOKENS_REPEAT, FENCING_ORDER",
    "KEEPS_ALL, LIVENESS",
    "HANGS, LIVENESS",
    "REFUSES, LIVENESS",
    "DIES, LIVENESS",
  })
  void isFound(Defect defect, @org.jspecify.annotations.Nullable Promise broken)
      throws InterruptedException {
    LockRef lock = new LockRef(LockRef.Kind.FENCED_MUTEX, "m");
    Load load = new Load(1, true, false, 5_000, 5_000, 0);
    Plan plan =
        new Plan(
            defect.name().hashCode() & 0xFFFFFFL,
            2,
            List.of(new Plan.Slots(lock, 1)),
            List.of(new Plan.Work(0, lock, load), new Plan.Work(1, lock, load)),
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
}
