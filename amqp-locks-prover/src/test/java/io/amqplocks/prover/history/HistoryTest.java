package io.amqplocks.prover.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {

  private static final LockRef LOCK = new LockRef(LockRef.Kind.MUTEX, "m");

  private final History history = new History();

  HistoryTest() {
    history.told("a", Command.work(3, LOCK, new Load(1, false, false, 0, 0, 0), 0));
  }

  private void did(What what, long millis) {
    history.did("a", new Event(3, 1, what, 0, TimeUnit.MILLISECONDS.toNanos(millis), 1, 7, null));
  }

  private static Interval millis(long from, long to) {
    return new Interval(TimeUnit.MILLISECONDS.toNanos(from), TimeUnit.MILLISECONDS.toNanos(to));
  }

  @Test
  void aLeaseIsCertainFromItsAcquireToTheLastLook() {
    did(What.ASKS, 1);
    did(What.ACQUIRED, 10);
    did(What.HELD, 20);
    did(What.RELEASES, 30);
    did(What.RELEASED, 40);
    assertThat(history.claims())
        .singleElement()
        .satisfies(
            claim -> {
              assertThat(claim.certain()).containsExactly(millis(10, 30));
              assertThat(claim.end()).isEqualTo(Claim.End.RELEASED);
              assertThat(claim.token()).isEqualTo(7);
            });
  }

  @Test
  void aLeaseKnowsWhichSideItsCommandAskedFor() {
    LockRef lock = new LockRef(LockRef.Kind.READ_WRITE_LOCK, "r");
    history.told("b", Command.work(4, lock, new Load(1, false, true, 0, 0, 0), 0));
    history.did("b", new Event(4, 1, What.ACQUIRED, 0, 1, 1, 0, null));
    did(What.ACQUIRED, 10);
    assertThat(history.claims()).extracting(Claim::reads).containsExactly(true, false);
  }

  @Test
  void doubtAndSilenceEndCertainty() {
    did(What.ACQUIRED, 10);
    did(What.HELD, 20);
    did(What.UNCERTAIN, 30);
    did(What.HELD, 40);
    did(What.HELD, 50);
    did(What.HELD, 1_000);
    did(What.HELD, 1_050);
    did(What.LOST, 1_100);
    did(What.RELEASED, 1_110);
    assertThat(history.claims())
        .singleElement()
        .satisfies(
            claim -> {
              assertThat(claim.certain())
                  .containsExactly(millis(10, 20), millis(40, 50), millis(1_000, 1_050));
              assertThat(claim.end()).isEqualTo(Claim.End.LOST);
              assertThat(claim.ended()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(1_100));
            });
  }

  @Test
  void aLeaseOfAClientThatWasKilledIsCertainUpToItsLastWord() {
    did(What.ACQUIRED, 10);
    did(What.HELD, 20);
    assertThat(history.claims())
        .singleElement()
        .satisfies(
            claim -> {
              assertThat(claim.certain()).containsExactly(millis(10, 20));
              assertThat(claim.end()).isEqualTo(Claim.End.UNKNOWN);
            });
  }

  @Test
  void anAcquireAloneProvesNothing() {
    did(What.ACQUIRED, 10);
    did(What.LOST, 5_000);
    assertThat(history.claims()).singleElement().matches(claim -> claim.certain().isEmpty());
  }

  @Test
  void aLockThatWasBusyIsNoLease() {
    did(What.ASKS, 1);
    did(What.BUSY, 2);
    assertThat(history.claims()).isEmpty();
  }

  @Test
  void aClientThatReportsOnACommandItNeverGotIsWrong() {
    history.did("b", new Event(3, 1, What.ACQUIRED, 0, 1, 1, 0, null));
    assertThatIllegalStateException()
        .isThrownBy(history::claims)
        .withMessageContaining("b reports on command 3");
  }

  @Test
  void isTheSameAfterItWasWrittenAndRead(@TempDir Path folder) throws IOException {
    did(What.ASKS, 1);
    did(What.ACQUIRED, 10);
    did(What.RELEASES, 11);
    history.suffered("a", new FaultSpan("kill", 1, 2));
    history.suffered(new FaultSpan("broker", 3, 4));
    Path file = folder.resolve("history.jsonl");
    history.writeTo(file);
    History read = History.readFrom(file);
    assertThat(read.entries()).isEqualTo(history.entries());
    assertThat(read.claims()).isEqualTo(history.claims()).hasSize(1);
  }
}
