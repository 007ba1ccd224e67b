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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times are milliseconds. A lock that was released is free a second later. */
class WaitCheckTest {

  private static final LockRef MUTEX = new LockRef(Kind.MUTEX, "m");
  private static final LockRef OTHER = new LockRef(Kind.MUTEX, "other");
  private static final LockRef SLOTS = new LockRef(Kind.SLOT_SEMAPHORE, "s");
  private static final LockRef TOKENS = new LockRef(Kind.QUORUM_TOKENS, "t");

  private final History history = new History();

  private List<Violation> check(LockRef lock, int slots) {
    isMade(lock);
    allGoOn();
    return WaitCheck.check(
        lock,
        slots,
        history,
        history.claims().stream().filter(claim -> claim.lock().equals(lock)).toList());
  }

  /** Somebody has acquired it once. */
  private void isMade(LockRef lock) {
    if (history.commands().stream().noneMatch(told -> told.client().equals("maker"))) {
      holds("maker", lock, 1, -1_000, -999);
    }
  }

  /** Each client says something all the time, but for one that is paused. */
  private void allGoOn() {
    List<String> clients =
        history.commands().stream()
            .filter(told -> told.command().id() == 1)
            .map(History.Told::client)
            .filter(client -> !client.equals("silent"))
            .distinct()
            .toList();
    for (String client : clients) {
      history.told(client, Command.work(9, OTHER, new Load(1, false, false, 0, 0, 0), 0));
      for (long millis = -3_000; millis < 14_000; millis += 500) {
        if (!client.equals("paused") || millis < 3_000 || millis > 3_500) {
          did(client, 9, 1, What.HELD, millis);
        }
      }
    }
  }

  private void asks(String client, LockRef lock, int permits, long wait, long from) {
    history.told(client, Command.work(1, lock, new Load(permits, false, false, wait, 0, 0), 0));
    did(client, 1, What.ASKS, -3_000);
    did(client, 1, What.BUSY, -2_999);
    did(client, What.ASKS, from);
  }

  private void did(String client, What what, long millis) {
    did(client, 2, what, millis);
  }

  private void did(String client, int cycle, What what, long millis) {
    did(client, 1, cycle, what, millis);
  }

  private void did(String client, long command, int cycle, What what, long millis) {
    long at = TimeUnit.MILLISECONDS.toNanos(millis);
    history.did(client, new Event(command, cycle, what, at, at, 1, 0, null));
  }

  private void holds(String client, LockRef lock, int permits, long from, long to) {
    asks(client, lock, permits, 5_000, from - 1);
    did(client, What.ACQUIRED, from);
    did(client, What.RELEASES, to - 1);
    did(client, What.RELEASED, to);
  }

  private void tries(String client, LockRef lock, int permits, long from) {
    asks(client, lock, permits, 0, from);
    did(client, What.BUSY, from + 2);
  }

  /** One alone may have been unlucky. No one is in the way of another one. */
  private void triesThrice(LockRef lock, long from) {
    tries("b", lock, 1, from);
    tries("c", lock, 1, from + 1_100);
    tries("d", lock, 1, from + 2_200);
  }

  private void waits(String client, LockRef lock, int permits, long from, long to) {
    asks(client, lock, permits, 5_000, from);
    did(client, What.BUSY, to);
  }

  @Test
  void triesThatMeetAFreeLockMustGetIt() {
    holds("a", MUTEX, 1, 1_000, 2_000);
    triesThrice(MUTEX, 3_001);
    List<Violation> violations = check(MUTEX, 1);
    assertThat(violations).hasSize(3);
    Violation first = violations.get(0);
    assertThat(first.promise()).isEqualTo(Promise.LIVENESS);
    assertThat(first.lock()).isEqualTo(MUTEX);
    assertThat(first.at()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(3_003));
    assertThat(first.text())
        .startsWith("b #1.2 was told that it is busy, of mutex 'm', and for 1.0 s at least 1");
    assertThat(check(new LockRef(Kind.MUTEX, "n"), 1)).isEmpty();
  }

  @Test
  void twoTriesMayHaveBeenUnlucky() {
    tries("b", MUTEX, 1, 3_001);
    tries("c", MUTEX, 1, 4_101);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  /** The release may not have reached the broker. */
  @Test
  void aTrySoonAfterARelease() {
    holds("a", MUTEX, 1, 1_000, 2_000);
    triesThrice(MUTEX, 2_999);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  @Test
  void triesDuringAHold() {
    holds("a", MUTEX, 1, 1_000, 9_000);
    triesThrice(MUTEX, 4_000);
    assertThat(check(MUTEX, 1)).isEmpty();
    assertThat(check(MUTEX, 2)).hasSize(3);
  }

  /** Of two that try at once, each may be in the other's way. */
  @Test
  void twoThatTryAtOnce() {
    tries("a", MUTEX, 1, 4_000);
    tries("b", MUTEX, 1, 4_001);
    tries("c", MUTEX, 1, 5_200);
    tries("d", MUTEX, 1, 5_201);
    assertThat(check(MUTEX, 1)).isEmpty();
    assertThat(check(MUTEX, 2)).hasSize(4);
  }

  @Test
  void whoeverHasNotSaidThatItReleasedMayHoldForEver() {
    asks("a", MUTEX, 1, 5_000, 1_000);
    triesThrice(MUTEX, 9_000);
    assertThat(check(MUTEX, 1)).isEmpty();
    did("a", What.FAILED, 2_000);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  @Test
  void aLostLeaseMayBeHeldForEver() {
    asks("a", MUTEX, 1, 5_000, 1_000);
    did("a", What.ACQUIRED, 1_001);
    did("a", What.LOST, 1_500);
    did("a", What.RELEASED, 1_600);
    triesThrice(MUTEX, 9_000);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  @Test
  void whoeverWaitsIsServedWithinSecondsAfterARelease() {
    holds("a", MUTEX, 1, 1_000, 2_000);
    waits("b", MUTEX, 1, 1_500, 6_001);
    assertThat(check(MUTEX, 1))
        .singleElement()
        .satisfies(
            violation ->
                assertThat(violation.text())
                    .startsWith("b #1.2 waited for mutex 'm', and for 4.0 s"));
  }

  @Test
  void aWaitThatMayHaveMissedItsNotification() {
    holds("a", MUTEX, 1, 1_000, 2_000);
    waits("b", MUTEX, 1, 1_500, 5_900);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  /** None of them is in the other's way: somebody must get it. */
  @Test
  void twoThatWaitForAFreeLock() {
    waits("a", MUTEX, 1, 1_000, 6_000);
    waits("b", MUTEX, 1, 1_100, 6_100);
    assertThat(check(MUTEX, 1)).hasSize(2);
  }

  @Test
  void aWaitThatWasServedLate() {
    asks("a", MUTEX, 1, 5_000, 1_000);
    did("a", What.ACQUIRED, 5_500);
    did("a", What.RELEASED, 5_600);
    assertThat(check(MUTEX, 1)).hasSize(1);
  }

  /** What is free now and then does not add up: others take turns. */
  @Test
  void severalShortTimes() {
    waits("c", MUTEX, 1, 0, 5_000);
    holds("a", MUTEX, 1, 1_000, 1_010);
    holds("b", MUTEX, 1, 3_000, 3_010);
    assertThat(check(MUTEX, 1)).isEmpty();
  }

  @Test
  void asManySlotsMustBeFreeAsACallWants() {
    holds("a", SLOTS, 2, 1_000, 9_000);
    waits("b", SLOTS, 2, 2_000, 7_000);
    assertThat(check(SLOTS, 3)).isEmpty();
    assertThat(check(SLOTS, 4)).hasSize(1);
  }

  /** It keeps what it has while it waits for more. */
  @Test
  void aWaitForSeveralSlotsCollectsThem() {
    holds("a", SLOTS, 1, 1_000, 9_000);
    waits("b", SLOTS, 3, 2_000, 7_000);
    waits("c", SLOTS, 1, 2_100, 7_000);
    assertThat(check(SLOTS, 3)).isEmpty();
    assertThat(check(SLOTS, 5)).as("there is enough for all").hasSize(2);
  }

  /** A holder that verifies its token has another one in hand for a moment. */
  @Test
  void aTryForATokenMayFindItInSomebodysHand() {
    triesThrice(TOKENS, 4_000);
    assertThat(check(TOKENS, 2)).isEmpty();
    waits("e", TOKENS, 1, 8_000, 12_000);
    assertThat(check(TOKENS, 2)).hasSize(1);
  }

  /** It may have to be made, and so may its counter of fencing tokens. */
  @Test
  void aWaitForTheFirstUse() {
    LockRef fenced = new LockRef(Kind.SLOT_SEMAPHORE, "fenced");
    history.told("maker", Command.work(1, fenced, new Load(1, false, false, 0, 0, 0), 0));
    did("maker", What.ASKS, 0);
    did("maker", What.ACQUIRED, 1);
    did("maker", What.RELEASED, 2);
    history.told("b", Command.work(1, fenced, new Load(1, true, false, 9_000, 0, 0), 0));
    did("b", 1, What.ASKS, -3_000);
    did("b", 1, What.BUSY, -2_999);
    did("b", What.ASKS, 1_000);
    did("b", What.ACQUIRED, 7_000);
    did("b", What.RELEASED, 7_001);
    waits("c", fenced, 1, 1_500, 6_500);
    assertThat(check(fenced, 3)).isEmpty();
    waits("d", fenced, 1, 8_000, 13_000);
    assertThat(check(fenced, 3)).hasSize(1);
  }

  /** What comes after a fault may be what it did. */
  @ParameterizedTest
  @CsvSource({"5_203, 0", "5_204, 3"})
  void triesBeforeTheFirstFault(String fault, int violations) {
    holds("a", MUTEX, 1, 1_000, 2_000);
    triesThrice(MUTEX, 3_001);
    suffers(Long.parseLong(fault.replace("_", "")));
    suffers(9_000);
    assertThat(check(MUTEX, 1)).hasSize(violations);
  }

  @ParameterizedTest
  @CsvSource({"500, 0", "4_999, 0", "5_000, 1"})
  void aWaitBeforeTheFirstFault(String fault, int violations) {
    waits("b", MUTEX, 1, 1_000, 6_000);
    suffers(Long.parseLong(fault.replace("_", "")));
    assertThat(check(MUTEX, 1)).hasSize(violations);
  }

  private void suffers(long millis) {
    long at = TimeUnit.MILLISECONDS.toNanos(millis);
    history.suffered(new FaultSpan("kill -9", at, at + 1, null));
  }

  /** The process may have to open connections for it. */
  @Test
  void aThreadsFirstCallIsNotLookedAt() {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 5_000, 0, 0), 0));
    did("a", 1, What.ASKS, 1_000);
    did("a", 1, What.BUSY, 6_000);
    assertThat(check(MUTEX, 1)).isEmpty();
    did("a", 2, What.ASKS, 6_000);
    did("a", 2, What.BUSY, 11_000);
    assertThat(check(MUTEX, 1)).hasSize(1);
  }

  /** Whoever is paused may be the first in line. */
  @Test
  void aWaitWhileAClientIsPaused() {
    waits("b", MUTEX, 1, 1_000, 6_000);
    assertThat(check(MUTEX, 1)).hasSize(1);
    waits("paused", MUTEX, 1, 12_000, 12_001);
    assertThat(check(MUTEX, 1)).isEmpty();
    waits("c", MUTEX, 1, 5_000, 10_000);
    assertThat(check(MUTEX, 1)).as("it goes on by then").hasSize(1);
  }

  /** It has nothing to say. */
  @Test
  void aClientThatOnlyWaitsIsNotPaused() {
    waits("silent", MUTEX, 1, 1_000, 6_000);
    assertThat(check(MUTEX, 1)).hasSize(1);
  }

  @Test
  void onlyTheEndOfACallCounts() {
    asks("a", MUTEX, 1, 5_000, 1_000);
    assertThat(check(MUTEX, 1)).isEmpty();
  }
}
