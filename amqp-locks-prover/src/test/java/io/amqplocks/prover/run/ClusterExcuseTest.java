package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The clients of nodes 1 and 2 are certain to hold one lock, as docs/GUARANTEES.md has it that they
 * may be. The first one had acquired it before node 1 was harmed at 1,000 ms, and the second one
 * acquires it after that.
 */
class ClusterExcuseTest {

  private static final long FROM = 1_000;

  /** The harm was in full force then. */
  private static final long FULL = 1_100;

  private static final long TO = 4_000;

  private final History history = new History();

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void harm(FaultKind what, int node) {
    history.suffered(
        new FaultSpan(what.label(), nanos(FROM), nanos(FULL), nanos(TO), null).ofNode(node));
  }

  private void onMnesia() {
    history.suffered(new FaultSpan(Site.REJOINED, nanos(20_000), nanos(21_000)));
  }

  private void holds(String client, LockRef lock, long from, long to, @Nullable String lost) {
    history.told(client, Command.work(1, lock, new Load(1, false, false, 0, 0, 0), 0));
    did(client, What.ASKS, from - 1, null);
    did(client, What.ACQUIRED, from, null);
    for (long at = from + 50; at < to; at += 50) {
      did(client, What.HELD, at, null);
    }
    did(client, lost == null ? What.RELEASES : What.HELD, to, null);
    did(client, lost == null ? What.RELEASED : What.LOST, to + 1, lost);
  }

  private void did(String client, What what, long millis, @Nullable String detail) {
    history.did(client, new Event(1, 1, what, nanos(millis), nanos(millis), 1, 0, detail));
  }

  private boolean isBroken(LockRef lock) {
    Plan plan =
        new Plan(
            1,
            3,
            List.of(new Plan.Slots(lock, 1)),
            List.of(),
            List.of(),
            List.of(),
            Duration.ofSeconds(1));
    return Verdict.of(plan, history, List.of()).violations().stream()
        .map(Violation::promise)
        .anyMatch(EnumSet.of(Promise.CAPACITY, Promise.EXCLUSION)::contains);
  }

  /** How long after the harm somebody may say HELD beside another one; -1 is not at all. */
  @ParameterizedTest
  @CsvSource({
    "NODE_FLAP, MUTEX, false, 1100",
    "NODE_FLAP, MUTEX, true, 1100",
    "NODE_FLAP, PERSISTENT_MUTEX, false, 1100",
    "NODE_FLAP, PERSISTENT_MUTEX, true, 1100",
    "NODE_FLAP, READ_WRITE_LOCK, false, 1100",
    "NODE_FLAP, READ_WRITE_LOCK, true, 1100",
    "NODE_FLAP, CLASSIC_TOKENS, false, 1100",
    "NODE_FLAP, CLASSIC_TOKENS, true, 1100",
    "NODE_FLAP, QUORUM_TOKENS, false, -1",
    "NODE_FLAP, QUORUM_TOKENS, true, 2850",
    "NODE_FLAP, FENCED_MUTEX, false, -1",
    "NODE_FLAP, FENCED_MUTEX, true, 2850",
    "NODE_FLAP, EXCLUSIVE_QUEUE_MUTEX, false, -1",
    "NODE_FLAP, EXCLUSIVE_QUEUE_MUTEX, true, 20000",
    "NODE_FLAP, SLOT_SEMAPHORE, false, -1",
    "NODE_FLAP, SLOT_SEMAPHORE, true, 20000",
    "NODE_SILENCE, MUTEX, true, -1",
    "NODE_SILENCE, QUORUM_TOKENS, true, -1",
    "NODE_SILENCE, SLOT_SEMAPHORE, false, -1",
    "NODE_SILENCE, SLOT_SEMAPHORE, true, 20000",
    "NODE_KILL, MUTEX, false, 1100",
    "NODE_KILL, QUORUM_TOKENS, false, 1100",
    "NODE_KILL, SLOT_SEMAPHORE, true, 1100",
    "NODE_STOP, MUTEX, true, -1",
    "NODE_STOP, QUORUM_TOKENS, true, -1",
    "NODE_STOP, SLOT_SEMAPHORE, true, -1"
  })
  void theClientOfTheHarmedNodeMayBeWrongForThatLong(
      FaultKind fault, LockRef.Kind kind, boolean onMnesia, long excused) {
    LockRef lock = new LockRef(kind, "l");
    for (long over : excused < 0 ? new long[] {1} : new long[] {0, 1}) {
      ClusterExcuseTest other = new ClusterExcuseTest();
      other.harm(fault, 1);
      if (onMnesia) {
        other.onMnesia();
      }
      long end = excused < 0 ? FULL + 250 : FROM + excused + over;
      other.holds("client-1", lock, -1_000, end, null);
      other.holds("client-2", lock, FULL + 205, end + 100, null);
      assertThat(other.isBroken(lock)).as("%d ms over", over).isEqualTo(over > 0);
    }
  }

  /** A client of another node than the mutex's own was not notified on 3.10. */
  @ParameterizedTest
  @CsvSource({"false, 1100", "true, 2850"})
  void clientsOfOtherNodesAreNotAlwaysToldOfAMutexOnMnesia(boolean onMnesia, long excused) {
    LockRef lock = new LockRef(LockRef.Kind.MUTEX, "l");
    for (long over : new long[] {0, 1}) {
      ClusterExcuseTest other = new ClusterExcuseTest();
      other.harm(FaultKind.NODE_FLAP, 3);
      if (onMnesia) {
        other.onMnesia();
      }
      other.holds("client-1", lock, -1_000, FROM + excused + over, null);
      other.holds("client-2", lock, FULL + 205, FROM + excused + over + 100, null);
      assertThat(other.isBroken(lock)).as("%d ms over", over).isEqualTo(over > 0);
    }
  }

  /** One that was acquired less than a heartbeat before may have no consumer yet. */
  @ParameterizedTest
  @CsvSource({"-1, true", "1, false"})
  void aClassicTokenThatWasNotVerifiedYetIsLostWithoutNotice(long later, boolean violates) {
    LockRef lock = new LockRef(LockRef.Kind.CLASSIC_TOKENS, "l");
    harm(FaultKind.NODE_FLAP, 1);
    holds("client-1", lock, later, FROM + 2_850, null);
    holds("client-2", lock, FULL + 205, FROM + 2_900, null);
    assertThat(isBroken(lock)).isEqualTo(violates);
  }

  @Test
  void aKilledNodeExcusesNoClientOfAnotherOne() {
    LockRef lock = new LockRef(LockRef.Kind.MUTEX, "l");
    harm(FaultKind.NODE_KILL, 3);
    holds("client-1", lock, -1_000, FULL + 300, null);
    holds("client-2", lock, FULL + 205, FULL + 400, null);
    assertThat(isBroken(lock)).isTrue();
  }

  /** Long after the fault the broker ends a connection, and the news takes its time. */
  @ParameterizedTest
  @CsvSource({
    "1, SESSION_ENDED (INTERNAL_ERROR), 999, false",
    "1, SESSION_ENDED (INTERNAL_ERROR), 1002, true",
    "1, REVOKED, 999, true",
    "0, SESSION_ENDED (INTERNAL_ERROR), 999, true"
  })
  void anErrorOfTheBrokerExcusesItsClientUntilTheNewsIsThere(
      int node, String reason, long together, boolean violates) {
    LockRef lock = new LockRef(LockRef.Kind.CLASSIC_TOKENS, "l");
    if (node > 0) {
      harm(FaultKind.NODE_FLAP, node);
    }
    holds("client-1", lock, 8_000, 10_000, reason);
    holds("client-2", lock, 10_000 - together, 11_000, null);
    assertThat(isBroken(lock)).isEqualTo(violates);
  }

  /** It was at work for 400 ms, from 5,000 ms on. */
  @ParameterizedTest
  @CsvSource({
    "1, EXCLUSIVE_QUEUE_MUTEX, 4500, 5_001, 8_149, false",
    "1, EXCLUSIVE_QUEUE_MUTEX, 4500, 5_001, 8_152, true",
    "1, EXCLUSIVE_QUEUE_MUTEX, 4500, 4_950, 8_149, true",
    "1, EXCLUSIVE_QUEUE_MUTEX, 5399, 5_450, 8_149, false",
    "1, EXCLUSIVE_QUEUE_MUTEX, 5510, 5_550, 8_149, true",
    "1, SLOT_SEMAPHORE, 4500, 5_001, 8_149, false",
    "3, EXCLUSIVE_QUEUE_MUTEX, 4500, 5_001, 8_149, false",
    "1, MUTEX, 4500, 5_001, 8_149, true",
    "1, QUORUM_TOKENS, 4500, 5_001, 8_149, true"
  })
  void aNodeThatDeletedExclusiveQueuesOfAnotherExcusesWhoeverHasThem(
      int node, LockRef.Kind kind, long acquired, long others, long held, boolean violates) {
    LockRef lock = new LockRef(kind, "l");
    history.suffered(new FaultSpan(Site.CLEANED_UP, nanos(5_000), nanos(5_400)).ofNode(node));
    holds("client-1", lock, acquired, held, null);
    holds("client-2", lock, others, held + 100, null);
    assertThat(isBroken(lock)).isEqualTo(violates);
  }

  /** With all leases that were asked for before, of any kind. */
  @ParameterizedTest
  @CsvSource({
    "1, MUTEX, 4500, 5_001, 7_749, false",
    "1, MUTEX, 4500, 5_001, 7_752, true",
    "1, MUTEX, 4500, 4_950, 7_749, true",
    "1, QUORUM_TOKENS, 4500, 5_001, 7_749, false",
    "1, SLOT_SEMAPHORE, 4500, 5_001, 7_749, false",
    "1, MUTEX, 5110, 5_250, 7_749, true",
    "3, MUTEX, 4500, 5_001, 7_749, true"
  })
  void aNodeThatEndedAConnectionExcusesItsClient(
      int node, LockRef.Kind kind, long acquired, long others, long held, boolean violates) {
    LockRef lock = new LockRef(kind, "l");
    history.suffered(new FaultSpan(Site.CONNECTION_ERROR, nanos(5_000), nanos(5_000)).ofNode(node));
    holds("client-1", lock, acquired, held, null);
    holds("client-2", lock, others, held + 100, null);
    assertThat(isBroken(lock)).isEqualTo(violates);
  }

  /** It is no harm that somebody did. */
  @ParameterizedTest
  @ValueSource(strings = {Site.CLEANED_UP, Site.CONNECTION_ERROR})
  void whatANodeDoesIsNoFault(String deed) {
    history.suffered(new FaultSpan(deed, nanos(5_000), nanos(5_400)).ofNode(1));
    Plan plan = new Plan(1, 3, List.of(), List.of(), List.of(), List.of(), Duration.ofSeconds(1));
    assertThat(Verdict.of(plan, history, List.of()).faults()).isZero();
  }

  /** 1.8 s after it is stopped. */
  @ParameterizedTest
  @CsvSource({"client-1, 2899, false", "client-1, 2902, true", "client-2, 2902, false"})
  void theClientOfAStoppedNodeIsNotCertainForLong(String client, long held, boolean violates) {
    LockRef lock = new LockRef(LockRef.Kind.MUTEX, "l");
    harm(FaultKind.NODE_STOP, 1);
    holds(client, lock, 900, held, null);
    Plan plan =
        new Plan(
            1,
            3,
            List.of(new Plan.Slots(lock, 1)),
            List.of(),
            List.of(),
            List.of(),
            Duration.ofSeconds(1));
    assertThat(Verdict.of(plan, history, List.of()).violations())
        .extracting(Violation::promise)
        .filteredOn(promise -> promise == Promise.CERTAINTY)
        .hasSize(violates ? 1 : 0);
  }
}
