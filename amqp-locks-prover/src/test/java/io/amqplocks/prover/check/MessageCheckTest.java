package io.amqplocks.prover.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.MessageCheck.Disturbances;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Command.Action;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that is active from 10,000 to 12,000 ms, and what it handles. */
class MessageCheckTest {

  private final History history = new History();
  private LockRef lock = new LockRef(Kind.SOLE_CONSUMER, "l");

  private void begin(Kind kind) {
    lock = new LockRef(kind, "l");
    history.told(
        "publisher",
        new Command(
            0, Action.CREATE, null, null, 0, lock, 1, 0, false, false, 0, 0, 0, 0, 0, null));
    for (String client : List.of("client-1", "client-2")) {
      history.told(client, Command.work(7, lock, new Load(1, false, false, 0, 0, 0), 0));
      did(client, 1, What.ACQUIRED, 10_000);
      did(client, 1, What.HELD, 10_010);
    }
  }

  private void did(String client, int cycle, What what, long millis) {
    history.did(client, new Event(7, cycle, what, 0, nanos(millis), 1, 0, null));
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void published(long number) {
    history.did("publisher", new Event(0, 0, What.PUBLISHED, 0, 0, 1, number, null));
  }

  private void handled(String client, int consumer, long number, long millis) {
    history.did(
        client,
        new Event(7, 0, What.HANDLED, nanos(millis), nanos(millis) + 1, consumer, number, null));
  }

  private List<Promise> broken() {
    return broken(Map.of());
  }

  private List<Promise> broken(Map<String, List<Interval>> stopped) {
    return broken(new Disturbances(stopped, Map.of()));
  }

  private List<Promise> broken(Disturbances disturbances) {
    return MessageCheck.check(lock, history, disturbances).stream()
        .map(Violation::promise)
        .toList();
  }

  @ParameterizedTest
  @EnumSource(names = {"SOLE_CONSUMER", "ACTIVE_QUEUE"})
  void aConfirmedMessageThatNobodyHandledIsLost(Kind kind) {
    begin(kind);
    published(1);
    published(2);
    handled("client-1", 1, 2, 11_000);
    assertThat(MessageCheck.missing(lock, history)).containsExactly(1L);
    assertThat(broken()).containsExactly(Promise.DELIVERY);
    handled("client-2", 1, 1, 11_000);
    assertThat(MessageCheck.missing(lock, history)).isEmpty();
    assertThat(broken()).isEmpty();
  }

  @Test
  void whatTheBrokerDidNotConfirmMayBeHandledOrNot() {
    begin(Kind.SOLE_CONSUMER);
    handled("client-1", 1, 5, 11_000);
    assertThat(broken()).isEmpty();
  }

  @Test
  void messagesOfAnotherQueueDoNotCount() {
    begin(Kind.SOLE_CONSUMER);
    published(1);
    LockRef first = lock;
    LockRef other = new LockRef(Kind.SOLE_CONSUMER, "other");
    history.told("client-1", Command.work(8, other, new Load(1, false, false, 0, 0, 0), 0));
    history.did("client-1", new Event(8, 0, What.HANDLED, nanos(11_000), 0, 1, 1, null));
    lock = first;
    assertThat(broken()).containsExactly(Promise.DELIVERY);
  }

  @ParameterizedTest
  @CsvSource({
    "ACTIVE_QUEUE, client-1, 1, 1",
    "ACTIVE_QUEUE, client-1, 2, 0",
    "ACTIVE_QUEUE, client-2, 1, 0",
    "SOLE_CONSUMER, client-1, 1, 0"
  })
  void byTwoWaysOneConsumerHandlesNoMessageTwice(
      Kind kind, String again, int consumer, int violations) {
    begin(kind);
    handled("client-1", 1, 3, 11_000);
    handled(again, consumer, 3, 11_001);
    assertThat(broken()).hasSize(violations).allMatch(Promise.UNIQUENESS::equals);
  }

  @ParameterizedTest
  @CsvSource({"LOST, 9_500, 1", "LOST, 10_100, 0", "LOST, 12_100, 1", "UNCERTAIN, 10_100, 1"})
  void unlessItsTermWasLostMeanwhile(What end, String at, int violations) {
    begin(Kind.ACTIVE_QUEUE);
    handled("client-1", 1, 3, 11_000);
    did("client-1", 1, end, Long.parseLong(at.replace("_", "")));
    did("client-1", 2, What.ACQUIRED, 14_000);
    handled("client-1", 1, 3, 14_500);
    assertThat(broken()).filteredOn(Promise.UNIQUENESS::equals).hasSize(violations);
  }

  /** The second time is no better for a loss after it. */
  @Test
  void aLossAfterTheSecondTimeExcusesNothing() {
    begin(Kind.ACTIVE_QUEUE);
    handled("client-1", 1, 3, 11_000);
    handled("client-1", 1, 3, 15_000);
    did("client-1", 1, What.LOST, 15_500);
    assertThat(broken()).containsExactly(Promise.UNIQUENESS);
  }

  /** The broker may not hear of a message's handling then. */
  @ParameterizedTest
  @CsvSource({"client-1, 0", "'', 0", "client-2, 1"})
  void aFaultTogetherWithTheEndOfTheTermExcuses(String who, int violations) {
    begin(Kind.ACTIVE_QUEUE);
    handled("client-1", 1, 3, 11_000);
    did("client-1", 1, What.UNCERTAIN, 11_100);
    did("client-1", 2, What.ACQUIRED, 14_000);
    handled("client-1", 1, 3, 14_500);
    Interval fault = new Interval(nanos(11_050), nanos(11_060));
    assertThat(broken(new Disturbances(Map.of(), Map.of(who, List.of(fault)))))
        .hasSize(violations)
        .allMatch(Promise.UNIQUENESS::equals);
    Interval later = new Interval(nanos(12_500), nanos(12_600));
    assertThat(broken(new Disturbances(Map.of(), Map.of(who, List.of(later)))))
        .containsExactly(Promise.UNIQUENESS);
  }

  @Test
  void whoIsStoppedOrKilledAtOnceCannotTellOfItsTerm() {
    begin(Kind.SOLE_CONSUMER);
    handled("client-1", 1, 1, 8_000);
    Interval stop = new Interval(nanos(8_500), nanos(8_600));
    assertThat(broken(Map.of("client-1", List.of(stop)))).isEmpty();
    assertThat(broken(Map.of("client-2", List.of(stop)))).containsExactly(Promise.ACTIVITY);
    Interval before = new Interval(nanos(7_500), nanos(7_999));
    assertThat(broken(Map.of("client-1", List.of(before)))).containsExactly(Promise.ACTIVITY);
  }

  @Test
  void whoIsStoppedBeforeItTellsOfItsTermMayHaveBegunAMessage() {
    begin(Kind.SOLE_CONSUMER);
    handled("client-1", 1, 1, 6_000);
    Interval stop = new Interval(nanos(6_500), nanos(9_500));
    assertThat(broken(Map.of("client-1", List.of(stop)))).isEmpty();
    Interval shorter = new Interval(nanos(7_100), nanos(8_900));
    assertThat(broken(Map.of("client-1", List.of(shorter)))).containsExactly(Promise.ACTIVITY);
  }

  @Test
  void whoIsActiveForThreeSecondsHandlesSomething() {
    begin(Kind.SOLE_CONSUMER);
    published(1);
    for (int millis = 10_020; millis <= 13_010; millis += 10) {
      did("client-1", 1, What.HELD, millis);
    }
    assertThat(progress()).containsExactly(Promise.LIVENESS);
    handled("client-2", 1, 1, 11_000);
    assertThat(progress()).isEmpty();
  }

  @Test
  void whoIsActiveForLessNeedNot() {
    begin(Kind.SOLE_CONSUMER);
    published(1);
    // The other one was certain for 10 ms.
    for (int millis = 10_020; millis <= 12_980; millis += 10) {
      did("client-1", 1, What.HELD, millis);
    }
    history.did("publisher", new Event(0, 0, What.HANDLED, 0, 0, 1, 1, null));
    assertThat(progress()).isEmpty();
    did("client-1", 1, What.HELD, 12_990);
    assertThat(progress()).containsExactly(Promise.LIVENESS);
  }

  private List<Promise> progress() {
    return MessageCheck.checkProgress(lock, history, history.claims()).stream()
        .map(Violation::promise)
        .toList();
  }

  @ParameterizedTest
  @EnumSource(names = {"UNCERTAIN", "LOST", "RELEASED"})
  void noMessageIsBegunASecondAfterTheTerm(What end) {
    begin(Kind.SOLE_CONSUMER);
    did("client-1", 1, end, 12_000);
    handled("client-1", 1, 1, 13_000);
    assertThat(broken()).isEmpty();
    handled("client-1", 1, 2, 13_001);
    assertThat(broken()).containsExactly(Promise.ACTIVITY);
  }

  @Test
  void theFirstSignOfTheEndCounts() {
    begin(Kind.SOLE_CONSUMER);
    did("client-1", 1, What.UNCERTAIN, 12_000);
    did("client-1", 1, What.RELEASED, 15_000);
    handled("client-1", 1, 2, 14_000);
    assertThat(broken()).containsExactly(Promise.ACTIVITY);
  }

  @Test
  void norBeforeTheTerm() {
    begin(Kind.SOLE_CONSUMER);
    handled("client-1", 1, 1, 9_000);
    assertThat(broken()).isEmpty();
    handled("client-1", 1, 1, 8_999);
    assertThat(broken()).containsExactly(Promise.ACTIVITY);
  }

  /** Between the check of the term and the call of the handler. */
  @Test
  void whoWasStoppedMayBeginItsMessageAfterThat() {
    begin(Kind.SOLE_CONSUMER);
    did("client-1", 1, What.LOST, 12_000);
    handled("client-1", 1, 1, 18_000);
    Interval pause = new Interval(nanos(11_999), nanos(17_000));
    assertThat(broken(Map.of("client-1", List.of(pause)))).isEmpty();
    assertThat(broken(Map.of("client-2", List.of(pause)))).containsExactly(Promise.ACTIVITY);
    Interval earlier = new Interval(nanos(11_999), nanos(16_999));
    assertThat(broken(Map.of("client-1", List.of(earlier)))).containsExactly(Promise.ACTIVITY);
    Interval later = new Interval(nanos(13_001), nanos(17_500));
    assertThat(broken(Map.of("client-1", List.of(later)))).containsExactly(Promise.ACTIVITY);
  }

  @Test
  void aTermThatNobodyToldTheEndOfLasts() {
    begin(Kind.SOLE_CONSUMER);
    handled("client-1", 1, 1, 99_000);
    assertThat(broken()).isEmpty();
  }

  @Test
  void whoHandlesTheRestInTheEndNeedsNoTerm() {
    begin(Kind.SOLE_CONSUMER);
    published(1);
    history.did("publisher", new Event(0, 0, What.HANDLED, nanos(1), 0, 1, 1, null));
    assertThat(broken()).isEmpty();
  }
}
