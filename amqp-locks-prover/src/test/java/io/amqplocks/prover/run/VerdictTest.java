package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockException;
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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two clients that are certain to hold one lock from 1,000 to 1,080 ms, after a fault at 900 ms.
 */
class VerdictTest {

  private static final LockRef MUTEX = new LockRef(LockRef.Kind.MUTEX, "mutex");
  private static final LockRef OTHER =
      new LockRef(LockRef.Kind.EXCLUSIVE_QUEUE_MUTEX, "exclusive_queue_mutex");

  private static final LockRef READ_WRITE =
      new LockRef(LockRef.Kind.READ_WRITE_LOCK, "read_write_lock");

  private static final LockRef SLOTS = new LockRef(LockRef.Kind.SLOT_SEMAPHORE, "slots");

  private final History history = new History();

  private void bothHold(LockRef lock, long until) {
    bothHold(lock, until, false, false);
  }

  private void bothHold(LockRef lock, long until, boolean firstReads, boolean secondReads) {
    for (String client : List.of("client-1", "client-2")) {
      boolean reads = client.equals("client-1") ? firstReads : secondReads;
      history.told(client, Command.work(1, lock, new Load(1, false, reads, 0, 0, 0), 0));
      did(client, What.ASKS, 990);
      did(client, What.ACQUIRED, 1_000);
      did(client, What.HELD, 1_050);
      did(client, What.RELEASES, until);
      did(client, What.RELEASED, until + 1);
    }
  }

  private void did(String client, What what, long millis) {
    did(client, 1, what, millis);
  }

  private void did(String client, int cycle, What what, long millis) {
    long at = TimeUnit.MILLISECONDS.toNanos(millis);
    history.did(client, new Event(1, cycle, what, 0, at, 1, 0, null));
  }

  private static FaultSpan fault(FaultKind kind, @Nullable LockRef lock) {
    long at = TimeUnit.MILLISECONDS.toNanos(900);
    return new FaultSpan(kind.label(), at, at, lock);
  }

  private List<Promise> broken() {
    bothHold(MUTEX, 1_080);
    return broken(MUTEX);
  }

  private List<Promise> broken(LockRef lock) {
    return violations(lock).stream().map(Violation::promise).distinct().toList();
  }

  private List<Violation> violations(LockRef lock) {
    return verdict(lock).violations();
  }

  private Verdict verdict(LockRef lock) {
    List<Plan.Slots> locks = List.of(new Plan.Slots(lock, 1));
    Plan plan = new Plan(1, 2, locks, List.of(), List.of(), List.of(), Duration.ofSeconds(1));
    return Verdict.of(plan, history, List.of());
  }

  /** Where only the output is left. */
  @Test
  void aViolationIsToldWithItsLeasesAndTheFaultsThatMayMatter() {
    history.suffered(fault(FaultKind.STRANGER, null));
    history.suffered(fault(FaultKind.QUEUE_CRASH, OTHER));
    bothHold(MUTEX, 1_080);
    Violation violation =
        violations(MUTEX).stream()
            .filter(each -> each.promise() == Promise.CAPACITY)
            .findFirst()
            .orElseThrow();
    assertThat(Circumstances.of(history, violation))
        .containsExactly(
            "client-1 #1.1: asked -1.0000, acquired +0.0000, certain +0.0000 to +0.0800, RELEASED +0.0810",
            "client-2 #1.1: asked -1.0000, acquired +0.0000, certain +0.0000 to +0.0800, RELEASED +0.0810",
            "a stranger's messages: from -0.1000 to -0.1000");
  }

  @Test
  void withoutAFaultItIsAViolation() {
    assertThat(broken()).contains(Promise.CAPACITY);
  }

  /** After a fault, it may be what the fault did. */
  @ParameterizedTest
  @CsvSource({"false, false, true", "true, false, false", "false, true, false"})
  void aWaitForAFreeLockIsAViolation(boolean isHarmed, boolean isResized, boolean violates) {
    for (String client : List.of("client-2", "client-1")) {
      history.told(client, Command.work(1, SLOTS, new Load(1, false, false, 5_000, 0, 0), 0));
    }
    did("client-2", What.ASKS, 500);
    did("client-2", What.ACQUIRED, 501);
    did("client-2", What.RELEASES, 502);
    did("client-2", What.RELEASED, 503);
    did("client-1", What.ASKS, 600);
    did("client-1", What.BUSY, 601);
    did("client-1", 2, What.ASKS, 1_000);
    did("client-1", 2, What.BUSY, 5_100);
    for (String client : List.of("client-1", "client-2")) {
      history.told(client, Command.work(9, OTHER, new Load(1, false, false, 0, 0, 0), 0));
      for (long millis = 500; millis <= 5_500; millis += 500) {
        long at = TimeUnit.MILLISECONDS.toNanos(millis);
        history.did(client, new Event(9, 1, What.UNCERTAIN, 0, at, 1, 0, null));
      }
    }
    Duration second = Duration.ofSeconds(1);
    Plan plan =
        new Plan(
            1,
            2,
            List.of(new Plan.Slots(SLOTS, 3)),
            List.of(),
            isResized ? List.of(new Plan.Resize(0, SLOTS, 2, second)) : List.of(),
            List.of(),
            second);
    if (isHarmed) {
      history.suffered(fault(FaultKind.CUT, null));
    }
    assertThat(Verdict.of(plan, history, List.of()).violations())
        .extracting(Violation::promise)
        .isEqualTo(violates ? List.of(Promise.LIVENESS) : List.of());
  }

  @Test
  void twoLeasesOfOneSlotAreAViolation() {
    bothHold(SLOTS, 1_080);
    List<Plan.Slots> locks = List.of(new Plan.Slots(SLOTS, 2));
    Plan plan = new Plan(1, 2, locks, List.of(), List.of(), List.of(), Duration.ofSeconds(1));
    assertThat(Verdict.of(plan, history, List.of()).violations())
        .singleElement()
        .satisfies(violation -> assertThat(violation.promise()).isEqualTo(Promise.CAPACITY));
  }

  @Test
  void aLeaseThatIsLostWithoutAFaultIsAViolation() {
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    did("client-1", What.ACQUIRED, 1_000);
    did("client-1", What.LOST, 1_080);
    did("client-1", What.RELEASED, 1_081);
    assertThat(broken(MUTEX)).containsExactly(Promise.LOSS);
    // An alarm blocks only who publishes, and nobody holds a lock by a gate.
    history.suffered(fault(FaultKind.ALARM, null));
    history.suffered(fault(FaultKind.GATE_DELETE, null));
    history.suffered(fault(FaultKind.QUEUE_CRASH, OTHER));
    assertThat(broken(MUTEX)).containsExactly(Promise.LOSS);
    history.suffered(fault(FaultKind.QUEUE_CRASH, MUTEX));
    assertThat(broken(MUTEX)).isEmpty();
  }

  /** Nodes come together late, and a stranger's message may be in a queue for long. */
  @ParameterizedTest
  @CsvSource({"STRANGER, false", "NODE_FLAP, false", "READER, true"})
  void someFaultsTakeLeasesLongAfterTheirEnd(FaultKind kind, boolean violates) {
    FaultSpan fault = span(kind, -9_000, -8_900, -8_800);
    history.suffered(kind == FaultKind.NODE_FLAP ? fault.ofNode(2) : fault);
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    did("client-1", What.ACQUIRED, 1_000);
    did("client-1", What.LOST, 1_080);
    did("client-1", What.RELEASED, 1_081);
    assertThat(broken(MUTEX).contains(Promise.LOSS)).isEqualTo(violates);
  }

  /** It may have happened at any time until 1,300 ms, and the broker frees the lock then. */
  @ParameterizedTest
  @CsvSource({
    "HALF_CUT, 3149, false",
    "HALF_CUT, 3151, true",
    "CUT, 1799, false",
    "CUT, 1801, true"
  })
  void aFaultThatIsDoneLateExcusesFromThen(FaultKind kind, long until, boolean violates) {
    history.suffered("client-1", span(kind, 900, 1_300, 1_300));
    for (String client : List.of("client-1", "client-2")) {
      history.told(client, Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
      long from = client.equals("client-1") ? 1_000 : 1_400;
      did(client, What.ASKS, from - 10);
      did(client, What.ACQUIRED, from);
      for (long at = from + 50; at < until; at += 50) {
        did(client, What.HELD, at);
      }
      did(client, What.RELEASES, until);
      did(client, What.RELEASED, until + 1);
    }
    assertThat(broken(MUTEX).contains(Promise.CAPACITY)).isEqualTo(violates);
  }

  /** Its connections are reset when it is over, and the news takes half a second. */
  @ParameterizedTest
  @CsvSource({"580, false", "579, true"})
  void theNewsOfASilenceThatIsOverComesAfterItsLastStep(long over, boolean violates) {
    FaultSpan silence = span(FaultKind.DEAF, 500, 510, 550);
    history.suffered("client-1", silence.overAt(TimeUnit.MILLISECONDS.toNanos(over)));
    assertThat(broken().contains(Promise.CAPACITY)).isEqualTo(violates);
  }

  @Test
  void whatAClientIsRefusedWithoutAFaultIsAViolation() {
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    long at = TimeUnit.MILLISECONDS.toNanos(1_000);
    String detail = new LockException.NotFound("not created").toString();
    history.did("client-1", new Event(1, 1, What.FAILED, 0, at, 0, 0, detail));
    assertThat(broken(MUTEX)).containsExactly(Promise.LIVENESS);
  }

  @Test
  void aChangeOfSlotsThatAClientCannotMakeIsNotUnknown() {
    history.told("client-1", Command.resize(1, MUTEX, 5, TimeUnit.MILLISECONDS.toNanos(1_000)));
    assertThat(verdict(MUTEX).unknown()).isEqualTo(1);
    did("client-1", What.UNSUPPORTED, 1_010);
    assertThat(verdict(MUTEX).unknown()).isZero();
  }

  /** As trap 18 had it on 3.10.8: the broker closed the connection, and nobody had harmed it. */
  @Test
  void aLossByAnErrorOfTheBrokerIsNoneButIsCounted() {
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    did("client-1", What.ACQUIRED, 1_000);
    did("client-1", What.HELD, 1_010);
    long at = TimeUnit.MILLISECONDS.toNanos(1_020);
    String detail = "SESSION_ENDED (INTERNAL_ERROR)";
    history.did("client-1", new Event(1, 1, What.NOTIFIED, 0, at, 0, 0, detail));
    history.did("client-1", new Event(1, 1, What.LOST, 0, at, 0, 0, detail));
    did("client-1", What.RELEASED, 1_021);
    assertThat(verdict(MUTEX).violations()).isEmpty();
    assertThat(verdict(MUTEX).excusedLosses()).isEqualTo(1);
    assertThat(verdict(MUTEX).and(verdict(MUTEX)).excusedLosses()).isEqualTo(2);
  }

  /** In full force from 1,100 ms on. A lease may be HELD for 1.75 s after that, and 50 ms. */
  @ParameterizedTest
  @CsvSource({
    "DEAF, client-1, 2899, false",
    "DEAF, client-1, 2901, true",
    "DEAF, client-2, 2901, false",
    "DEAF, client-1, 4001, false",
    "MUTE, client-1, 2901, true",
    "PARTITION, client-1, 2901, true",
    "BROKER_STOP, , 2899, false",
    "BROKER_STOP, , 2901, true",
    "STOP, client-1, 2901, false",
    "DELAY, client-1, 2901, false"
  })
  void aLeaseThatIsHeldWithoutAnAnswerOfTheBrokerIsAViolation(
      FaultKind kind, @Nullable String client, long held, boolean violates) {
    FaultSpan fault = span(kind, 900, 1_100, 4_000);
    if (client == null) {
      history.suffered(fault);
    } else {
      history.suffered(client, fault);
    }
    heldUntil(held);
    assertThat(broken(MUTEX)).isEqualTo(violates ? List.of(Promise.CERTAINTY) : List.<Promise>of());
    assertThat(violations(MUTEX)).hasSize(violates ? 1 : 0);
  }

  /** As of a fault that an earlier version of the prover wrote down. */
  @Test
  void aFaultThatWasInFullForceAtNoKnownTimeSaysNothingOfCertainty() {
    history.suffered("client-1", span(FaultKind.DEAF, 900, 0, 4_000));
    heldUntil(3_999);
    assertThat(broken(MUTEX)).isEmpty();
  }

  /** Acquired at 1,000 ms. What the client has connected since then, the broker answers. */
  @ParameterizedTest
  @CsvSource({
    "client-1, 1001, 2899, false",
    "client-1, 1001, 2901, true",
    "client-1, 1001, 9000, true",
    "client-1, 1000, 9000, false",
    "client-2, 1001, 9000, false"
  })
  void aLeaseThatTheBrokerLostWithoutWordIsNotHeldForLong(
      String client, long from, long held, boolean violates) {
    history.suffered(client, span(FaultKind.HALF_CUT, from, 1_100, 1_200));
    heldUntil(held);
    assertThat(broken(MUTEX)).isEqualTo(violates ? List.of(Promise.CERTAINTY) : List.<Promise>of());
  }

  /** The client was stopped while it asked. It tells when it began to. */
  @Test
  void anAnswerThatMayHaveComeAfterTheSilenceIsNoViolation() {
    history.suffered(span(FaultKind.BROKER_STOP, 900, 1_100, 4_000));
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    did("client-1", What.ACQUIRED, 1_000);
    did("client-1", What.HELD, 3_999);
    did("client-1", What.HELD, 4_500);
    did("client-1", What.RELEASES, 4_501);
    did("client-1", What.RELEASED, 4_502);
    assertThat(broken(MUTEX)).isEmpty();
  }

  /** The news of a loss comes 1.1 s late, and takes its time besides. */
  @ParameterizedTest
  @CsvSource({"1600, false", "1601, true", "800, false"})
  void answersThatComeTooLateExcuseTheirClient(long sinceTheirEnd, boolean violates) {
    long end = 1_080 - sinceTheirEnd;
    history.suffered("client-1", span(FaultKind.LATE, end - 10, end - 10, end));
    assertThat(broken().contains(Promise.CAPACITY)).isEqualTo(violates);
  }

  private void heldUntil(long millis) {
    history.told("client-1", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did("client-1", What.ASKS, 990);
    did("client-1", What.ACQUIRED, 1_000);
    did("client-1", What.HELD, millis - 1);
    did("client-1", What.RELEASES, millis);
    did("client-1", What.RELEASED, millis + 1);
  }

  private static FaultSpan span(FaultKind kind, long from, long full, long to) {
    return new FaultSpan(
        kind.label(),
        TimeUnit.MILLISECONDS.toNanos(from),
        TimeUnit.MILLISECONDS.toNanos(full),
        TimeUnit.MILLISECONDS.toNanos(to),
        null);
  }

  /** For 1.75 heartbeats, which are long where only queues are deleted. */
  @ParameterizedTest
  @CsvSource({"QUEUE_DELETE, false", "QUEUE_CRASH, true"})
  void theHolderOfARemovedSlotIsExcusedByTheHeartbeatOfTheRound(FaultKind kind, boolean violates) {
    LockRef slots = new LockRef(LockRef.Kind.SLOT_SEMAPHORE, "slot_semaphore");
    history.told("admin", Command.resize(1, slots, 1, TimeUnit.MILLISECONDS.toNanos(1_010)));
    did("admin", What.DONE, 1_020);
    for (String client : List.of("client-1", "client-2")) {
      history.told(client, Command.work(1, slots, new Load(1, false, false, 0, 0, 0), 0));
      did(client, What.ASKS, 990);
      did(client, What.ACQUIRED, 1_000);
      for (long at = 1_050; at < 4_000; at += 50) {
        did(client, What.HELD, at);
      }
      did(client, What.RELEASES, 4_000);
      did(client, What.RELEASED, 4_001);
    }
    Plan plan =
        new Plan(
            1,
            2,
            List.of(new Plan.Slots(slots, 2)),
            List.of(),
            List.of(new Plan.Resize(0, slots, 1, Duration.ofMillis(1_010))),
            List.of(new Plan.Harm(kind, 0, Duration.ofMillis(1), Duration.ofMillis(1))),
            Duration.ofSeconds(1));
    assertThat(Verdict.of(plan, history, List.of()).violations())
        .extracting(Violation::promise)
        .containsExactlyElementsOf(violates ? List.of(Promise.CAPACITY) : List.of());
  }

  @Test
  void whatWasDoneToItsQueueExcusesThatLock() {
    history.suffered(fault(FaultKind.QUEUE_DELETE, MUTEX));
    assertThat(broken()).doesNotContain(Promise.CAPACITY);
  }

  @Test
  void whatWasDoneToTheQueueOfAnotherLockExcusesNothing() {
    history.suffered(fault(FaultKind.QUEUE_DELETE, OTHER));
    assertThat(broken()).contains(Promise.CAPACITY);
  }

  @ParameterizedTest
  @EnumSource(names = {"STRANGER", "READER", "ALARM", "POLICY", "KILL", "STOP", "BROKER_STOP"})
  void theseExcuseNothing(FaultKind kind) {
    history.suffered(fault(kind, null));
    assertThat(broken()).contains(Promise.CAPACITY);
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true"})
  void aWriterBesideAnybodyIsAViolation(boolean firstReads, boolean secondReads) {
    bothHold(READ_WRITE, 1_080, firstReads, secondReads);
    assertThat(broken(READ_WRITE))
        .containsExactlyInAnyOrder(Promise.EXCLUSION, Promise.LINEARIZABILITY);
  }

  @Test
  void readersTogetherAreNone() {
    bothHold(READ_WRITE, 1_080, true, true);
    assertThat(broken(READ_WRITE)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"QUEUE_DELETE", "QUEUE_CRASH", "GATE_DELETE", "GATE_CRASH", "STRANGER"})
  void harmToAReadWriteLocksQueueExcusesItsHoldersAndHarmToItsGateDoesNot(FaultKind kind) {
    history.suffered(fault(kind, kind == FaultKind.STRANGER ? null : READ_WRITE));
    bothHold(READ_WRITE, 1_080, true, false);
    boolean isExcused = kind == FaultKind.QUEUE_DELETE || kind == FaultKind.QUEUE_CRASH;
    assertThat(broken(READ_WRITE).contains(Promise.EXCLUSION)).isEqualTo(!isExcused);
  }

  /** The broker ends a connection whose call waited for the queue, and frees all its leases. */
  @ParameterizedTest
  @CsvSource({
    "GATE_CRASH, FAILED, 890, 1100, INTERNAL_ERROR, true",
    "QUEUE_CRASH, FAILED, 890, 1100, INTERNAL_ERROR, true",
    "CONSUMED_CRASH, FAILED, 890, 1100, INTERNAL_ERROR, true",
    "QUEUE_CRASH, LOST, 890, 1100, INTERNAL_ERROR, true",
    "QUEUE_CRASH, BUSY, 890, 1100, INTERNAL_ERROR, false",
    "GATE_DELETE, FAILED, 890, 1100, INTERNAL_ERROR, false",
    "GATE_CRASH, FAILED, 890, 1100, RabbitMQ did not answer, false",
    "GATE_CRASH, FAILED, 890, 1401, INTERNAL_ERROR, false",
    "GATE_CRASH, FAILED, 901, 1100, INTERNAL_ERROR, false",
    "GATE_CRASH, FAILED, 800, 890, INTERNAL_ERROR, false"
  })
  void aCallThatACrashedQueueEndedExcusesItsClient(
      FaultKind kind, What what, long from, long until, String why, boolean isExcused) {
    history.suffered(fault(kind, READ_WRITE));
    history.told("client-1", Command.work(7, OTHER, new Load(1, false, false, 0, 0, 0), 0));
    long asked = TimeUnit.MILLISECONDS.toNanos(from);
    long failed = TimeUnit.MILLISECONDS.toNanos(until);
    history.did("client-1", new Event(7, 1, What.ASKS, asked, asked, 0, 0, null));
    history.did("client-1", new Event(7, 1, what, asked, failed, 0, 0, why));
    assertThat(broken().contains(Promise.CAPACITY)).isEqualTo(!isExcused);
  }

  /** It may come in place of a token that is given back, which may be away for 100 ms. */
  @ParameterizedTest
  @EnumSource
  void aStrangersMessageExcusesHoldersOfTokensForAMoment(LockRef.Kind kind) {
    LockRef lock = new LockRef(kind, "l");
    history.suffered(fault(FaultKind.STRANGER, null));
    bothHold(lock, 1_100);
    Set<LockRef.Kind> tokens =
        Set.of(
            LockRef.Kind.CLASSIC_TOKENS,
            LockRef.Kind.QUORUM_TOKENS,
            LockRef.Kind.FENCED_MUTEX,
            LockRef.Kind.FENCED_SOLE_CONSUMER);
    assertThat(broken(lock))
        .filteredOn(EnumSet.of(Promise.CAPACITY, Promise.EXCLUSION)::contains)
        .hasSize(tokens.contains(kind) ? 0 : 1);
  }

  @Test
  void butNotForLonger() {
    LockRef lock = new LockRef(LockRef.Kind.QUORUM_TOKENS, "l");
    history.suffered(fault(FaultKind.STRANGER, null));
    bothHold(lock, 1_101);
    assertThat(broken(lock)).contains(Promise.CAPACITY);
  }

  @Test
  void norAnybodyWithoutSuchAMessage() {
    LockRef lock = new LockRef(LockRef.Kind.QUORUM_TOKENS, "l");
    history.suffered(fault(FaultKind.READER, null));
    bothHold(lock, 1_080);
    assertThat(broken(lock)).contains(Promise.CAPACITY);
  }
}
