package io.amqplocks.prover.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A lease that "a" acquired at 10 and lost at 50. A pause is longer than 20. */
class LossCheckTest {

  private static final LockRef MUTEX = new LockRef(Kind.MUTEX, "m");

  private static final String HARMLESS = "takes nothing";
  private static final String LASTING = "leaves something behind";

  private final History history = new History();

  private static final LossCheck.Faults FAULTS =
      new LossCheck.Faults(
          fault -> !fault.what().equals(HARMLESS), fault -> fault.what().equals(LASTING));

  private void did(What what, long at) {
    history.did("a", new Event(1, 1, what, 5, at, 1, 0, what == What.LOST ? "why" : null));
  }

  private void loses(LockRef lock) {
    history.told("a", Command.work(1, lock, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ASKS, 5);
    did(What.ACQUIRED, 10);
    did(What.HELD, 30);
    did(What.LOST, 50);
    did(What.RELEASED, 60);
  }

  private List<Violation> check(LockRef lock) {
    return LossCheck.check(lock, history, history.claims(), Duration.ofNanos(20), FAULTS);
  }

  @ParameterizedTest
  @EnumSource
  void aLossForNothingIsAViolation(Kind kind) {
    LockRef lock = new LockRef(kind, "l");
    loses(lock);
    assertThat(check(lock))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.promise()).isEqualTo(Promise.LOSS);
              assertThat(violation.at()).isEqualTo(50);
              assertThat(violation.claims()).isEqualTo(history.claims());
              assertThat(violation.text()).contains("a #1.1 lost").endsWith(": why");
            });
  }

  @Test
  void aReleaseIsNoLossNorIsAnEndThatNobodyKnows() {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ACQUIRED, 10);
    assertThat(check(MUTEX)).isEmpty();
    did(What.RELEASES, 20);
    did(What.RELEASED, 30);
    assertThat(check(MUTEX)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"a, 50, true", ", 50, true", "a, 51, false", ", 51, false", "b, 1, false"})
  void aFaultOfItsClientOrOfTheBrokerMayTakeIt(
      @Nullable String client, long from, boolean isExcused) {
    loses(MUTEX);
    FaultSpan fault = new FaultSpan("fault", from, 100);
    if (client == null) {
      history.suffered(fault);
    } else {
      history.suffered(client, fault);
    }
    assertThat(check(MUTEX).isEmpty()).isEqualTo(isExcused);
  }

  /** What was sent to a client that is stopped does not come back in time. */
  @ParameterizedTest
  @EnumSource
  void aFaultOfAnotherClientMayTakeWhatIsAMessage(Kind kind) {
    LockRef lock = new LockRef(kind, "l");
    loses(lock);
    history.suffered("b", new FaultSpan("fault", 20, 100));
    assertThat(check(lock).isEmpty()).isEqualTo(kind.isHeldByMessages());
  }

  /** A crashed gate may end a connection with all of its leases, and the client then says so. */
  @ParameterizedTest
  @CsvSource({"l, true", "another, false"})
  void aFaultOfAnotherLockMayNotTakeIt(String name, boolean isExcused) {
    LockRef lock = new LockRef(Kind.MUTEX, "l");
    loses(lock);
    history.suffered(new FaultSpan("fault", 20, 20, new LockRef(Kind.MUTEX, name)));
    assertThat(check(lock).isEmpty()).isEqualTo(isExcused);
  }

  /** Four heartbeats of 20 ns after the end of a fault, and lost at 50. */
  @ParameterizedTest
  @CsvSource({"-30, true", "-31, false"})
  void aFaultLongBeforeMayNotTakeIt(long over, boolean isExcused) {
    loses(MUTEX);
    history.suffered("a", new FaultSpan("fault", -50, -40).overAt(over));
    // As long as that, the client tells nothing. It is not the pause that excuses it.
    history.did("a", new Event(2, 0, What.DONE, 0, 20, 0, 0, null));
    history.did("a", new Event(3, 0, What.DONE, 0, 40, 0, 0, null));
    assertThat(check(MUTEX).isEmpty()).isEqualTo(isExcused);
  }

  /** Such as that of a node, whose locks come back late, or a stranger's message. */
  @Test
  void whatAFaultLeavesBehindMayTakeItAtAnyLaterTime() {
    loses(MUTEX);
    history.suffered(new FaultSpan(LASTING, -500, -400));
    assertThat(check(MUTEX)).isEmpty();
  }

  @Test
  void aChangeThatAClientCannotMakeTakesNoSlot() {
    LockRef lock = new LockRef(Kind.SLOT_SEMAPHORE, "s");
    loses(lock);
    history.told("b", Command.resize(1, lock, 1, 20));
    history.did("b", new Event(1, 0, What.UNSUPPORTED, 0, 30, 0, 0, null));
    assertThat(check(lock)).hasSize(1);
  }

  @Test
  void aFaultThatTakesNoLeaseMayNotTakeIt() {
    loses(MUTEX);
    history.suffered(new FaultSpan(HARMLESS, 20, 100));
    assertThat(check(MUTEX)).hasSize(1);
  }

  /** Tokens are removed when they come back. */
  @ParameterizedTest
  @EnumSource(names = {"SLOT_SEMAPHORE", "CLASSIC_TOKENS", "QUORUM_TOKENS"})
  void aChangeOfTheNumberOfSlotsMayTakeASlotAndNoToken(Kind kind) {
    LockRef lock = new LockRef(kind, "s");
    loses(lock);
    history.told("b", Command.resize(1, lock, 1, 50));
    assertThat(check(lock).isEmpty()).isEqualTo(kind == Kind.SLOT_SEMAPHORE);
  }

  @Test
  void aLaterChangeOrOneOfAnotherLockMayNot() {
    LockRef lock = new LockRef(Kind.SLOT_SEMAPHORE, "s");
    loses(lock);
    history.told("b", Command.resize(1, lock, 1, 51));
    history.told("b", Command.resize(2, new LockRef(Kind.SLOT_SEMAPHORE, "t"), 1, 20));
    assertThat(check(lock)).hasSize(1);
  }

  /** The words are those of the own client; a lock may have the number in its name. */
  @ParameterizedTest
  @CsvSource({
    "SESSION_ENDED (INTERNAL_ERROR), true",
    "REVOKED (INTERNAL_ERROR - what it says), true",
    "'EXPIRED (RabbitMQ has not answered for 3 s, three heartbeats)', true",
    "SESSION_ENDED (Heartbeat missing with heartbeat = 1 seconds), true",
    "REVOKED (queue p.m-541 was deleted), false",
    "SESSION_ENDED (Connection reset), false",
    ", false"
  })
  void anErrorOrSilenceOfTheBrokerMayTakeItAndIsCounted(@Nullable String why, boolean isExcused) {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ACQUIRED, 10);
    did(What.HELD, 30);
    history.did("a", new Event(1, 1, What.LOST, 5, 50, 0, 0, why));
    did(What.RELEASED, 60);
    // What the broker said of another lease is no word of this one.
    history.told("a", Command.work(2, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    history.did("a", new Event(2, 1, What.LOST, 5, 50, 0, 0, "INTERNAL_ERROR"));
    assertThat(check(MUTEX).isEmpty()).isEqualTo(isExcused);
    assertThat(excusedByReason(MUTEX)).isEqualTo(isExcused ? 1 : 0);
    // With a fault before it, the error is no riddle.
    history.suffered(new FaultSpan("fault", 40, 40));
    assertThat(check(MUTEX)).isEmpty();
    assertThat(excusedByReason(MUTEX)).isZero();
  }

  /**
   * As seen on 4.3.6, on a busy machine without faults: the token of a sole consumer by a fenced
   * mutex was away for more than 0.1 s. A term ends as soon as its lease is in doubt. Other leases
   * do not.
   */
  @ParameterizedTest
  @EnumSource
  void aDoubtMayEndATermAndIsCounted(Kind kind) {
    LockRef lock = new LockRef(kind, "l");
    history.told("a", Command.work(1, lock, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ACQUIRED, 10);
    did(What.HELD, 30);
    String why = "UNCERTAIN (the broker has not confirmed the lock for too long)";
    history.did("a", new Event(1, 1, What.LOST, 5, 50, 0, 0, why));
    did(What.RELEASED, 60);
    assertThat(check(lock).isEmpty()).isEqualTo(kind.consumes());
    assertThat(excusedByReason(lock)).isEqualTo(kind.consumes() ? 1 : 0);
  }

  /**
   * As seen on 4.3.6, on a busy machine without faults: a fenced lease of slot 2 gave its token
   * back to verify it while slot 1 was released, and another call received it.
   */
  @ParameterizedTest
  @CsvSource({
    "QUORUM_TOKENS, true, 1, 40, has given the token of queue q away, true",
    "CLASSIC_TOKENS, true, 1, 40, has given the token of queue q away, false",
    "QUORUM_TOKENS, false, 1, 40, has given the token of queue q away, false",
    "QUORUM_TOKENS, true, 2, 40, has given the token of queue q away, false",
    "QUORUM_TOKENS, true, 1, 9, has given the token of queue q away, false",
    "QUORUM_TOKENS, true, 1, 51, has given the token of queue q away, false",
    "QUORUM_TOKENS, true, 1, 40, sent a second token of queue q, false",
    "FENCED_MUTEX, true, 1, 40, has given the token of queue q away, false",
    "SLOT_SEMAPHORE, true, 1, 40, has given the token of queue q away, false",
    "MUTEX, true, 1, 40, has given the token of queue q away, false",
  })
  void aTokenThatIsGivenBackToBeVerifiedMayGoToAnotherCall(
      Kind kind, boolean fenced, int otherSlot, long other, String what, boolean isExcused) {
    LockRef lock = new LockRef(kind, "l");
    history.told("a", Command.work(1, lock, new Load(1, fenced, false, 0, 0, 0), 0));
    history.told("b", Command.work(1, lock, new Load(1, fenced, false, 0, 0, 0), 0));
    history.did("b", new Event(1, 1, What.ACQUIRED, 1, 3, otherSlot, 1, null));
    history.did("a", new Event(1, 1, What.ACQUIRED, 5, 10, 2, 1, null));
    history.did("a", new Event(1, 1, What.HELD, 5, 30, 2, 1, null));
    String detail = "REVOKED (RabbitMQ " + what + ")";
    history.did("a", new Event(1, 1, What.LOST, 5, 50, 0, 0, detail));
    history.did("a", new Event(1, 1, What.RELEASED, 5, 60, 0, 0, null));
    history.did("b", new Event(1, 1, What.RELEASED, 1, other, 0, 0, null));
    assertThat(check(lock).isEmpty()).isEqualTo(isExcused);
    assertThat(excusedByReason(lock)).isEqualTo(isExcused ? 1 : 0);
  }

  /** The heartbeat is 20 ns here. */
  @ParameterizedTest
  @CsvSource({"21, 61, true", "21, 62, false"})
  void aReleaseLongBeforeIsNoReason(long released, long lost, boolean isExcused) {
    LockRef lock = new LockRef(Kind.QUORUM_TOKENS, "l");
    history.told("a", Command.work(1, lock, new Load(1, true, false, 0, 0, 0), 0));
    history.told("b", Command.work(1, lock, new Load(1, true, false, 0, 0, 0), 0));
    history.did("b", new Event(1, 1, What.ACQUIRED, 1, 3, 1, 1, null));
    history.did("a", new Event(1, 1, What.ACQUIRED, 5, 10, 2, 1, null));
    history.did("b", new Event(1, 1, What.RELEASED, 1, released, 0, 0, null));
    for (long at = 20; at <= 50; at += 10) {
      history.did("a", new Event(1, 1, What.HELD, 5, at, 2, 1, null));
    }
    String detail = "REVOKED (RabbitMQ has given the token of queue q away)";
    history.did("a", new Event(1, 1, What.LOST, 5, lost, 0, 0, detail));
    history.did("a", new Event(1, 1, What.RELEASED, 5, 70, 0, 0, null));
    assertThat(check(lock).isEmpty()).isEqualTo(isExcused);
  }

  private int excusedByReason(LockRef lock) {
    return LossCheck.excusedByReason(lock, history, history.claims(), Duration.ofNanos(20), FAULTS);
  }

  @ParameterizedTest
  @CsvSource({
    "LOST, NOTIFIED, false", "LOST, NOT_NOTIFIED, true", "LOST, , false",
    "RELEASES, NOTIFIED, true", "RELEASES, , false", "UNCERTAIN, NOTIFIED, true"
  })
  void aLossIsToldAndAReleaseIsNone(What last, @Nullable What told, boolean isViolation) {
    history.suffered(new FaultSpan("fault", 0, 0));
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ACQUIRED, 10);
    did(last, 20);
    did(What.RELEASED, 30);
    if (told != null) {
      did(told, 40);
    }
    // Of an end that nobody knows, as of a client that was killed, nothing is required.
    history.did("a", new Event(1, 2, What.ACQUIRED, 0, 50, 1, 0, null));
    history.did("a", new Event(1, 2, What.NOTIFIED, 0, 60, 1, 0, null));
    assertThat(history.claims().get(0).ended()).isEqualTo(last == What.LOST ? 20 : 30);
    List<Violation> found = check(MUTEX);
    assertThat(found)
        .extracting(Violation::promise)
        .isEqualTo(isViolation ? List.of(Promise.NOTIFICATION) : List.of());
    assertThat(found).allSatisfy(each -> assertThat(each.at()).isEqualTo(40));
  }

  /** Whoever waits is silent too, and so is a client that has nothing to do. */
  @ParameterizedTest
  @CsvSource({"0, 10, 30, 50, false", "0, 10, 30, 51, true", "0, 31, 51, 60, false"})
  void aPauseOfItsClientMayTakeItWhileItIsHeld(
      long asks, long acquired, long held, long lost, boolean isExcused) {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ASKS, asks);
    did(What.ACQUIRED, acquired);
    did(What.HELD, held);
    did(What.LOST, lost);
    did(What.RELEASED, 100);
    assertThat(check(MUTEX).isEmpty()).isEqualTo(isExcused);
  }

  @Test
  void aClientThatTellsOfAnythingIsNotPaused() {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    did(What.ACQUIRED, 10);
    did(What.LOST, 50);
    assertThat(check(MUTEX)).isEmpty();
    history.did("b", new Event(1, 0, What.DONE, 0, 30, 0, 0, null));
    assertThat(check(MUTEX)).isEmpty();
    history.did("a", new Event(2, 0, What.DONE, 0, 30, 0, 0, null));
    assertThat(check(MUTEX)).hasSize(1);
  }
}
