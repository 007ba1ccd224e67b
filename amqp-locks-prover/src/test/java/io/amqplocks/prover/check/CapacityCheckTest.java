package io.amqplocks.prover.check;

import static io.amqplocks.prover.check.Claims.MUTEX;
import static io.amqplocks.prover.check.Claims.TOKENS;
import static io.amqplocks.prover.check.Claims.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CapacityCheckTest {

  private static List<Violation> check(int slots, Claim... claims) {
    return CapacityCheck.check(TOKENS, List.of(claims), Capacity.of(slots), Tolerance.NONE);
  }

  @Test
  void oneAfterTheOtherIsLegal() {
    Claim first = held("a", MUTEX, 1, 0, 10, 20);
    Claim second = held("b", MUTEX, 1, 5, 20, 30);
    assertThat(CapacityCheck.check(MUTEX, List.of(first, second), Capacity.of(1), Tolerance.NONE))
        .isEmpty();
  }

  @Test
  void twoAtOnceBreakAMutex() {
    Claim first = held("a", MUTEX, 1, 0, 10, 21);
    Claim second = held("b", MUTEX, 1, 5, 20, 30);
    Claim later = held("a", MUTEX, 1, 5, 40, 50);
    assertThat(
            CapacityCheck.check(
                MUTEX, List.of(second, later, first), Capacity.of(1), Tolerance.NONE))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.at()).isEqualTo(20);
              assertThat(violation.claims()).containsExactly(first, second);
            });
  }

  @Test
  void asManyAsThereAreSlotsAreLegal() {
    assertThat(
            check(
                3,
                held("a", TOKENS, 2, 0, 10, 50),
                held("b", TOKENS, 1, 0, 15, 30),
                held("c", TOKENS, 1, 0, 30, 60)))
        .isEmpty();
  }

  @Test
  void everyPermitCounts() {
    assertThat(check(3, held("a", TOKENS, 2, 0, 10, 50), held("b", TOKENS, 2, 0, 15, 30)))
        .hasSize(1);
  }

  @Test
  void aTimeThatLastsIsReportedOnce() {
    assertThat(
            check(
                1,
                held("a", TOKENS, 1, 0, 10, 50),
                held("b", TOKENS, 1, 0, 15, 40),
                held("c", TOKENS, 1, 0, 20, 30)))
        .hasSize(1);
  }

  private static Tolerance tolerated(long from, long nanos) {
    return new Tolerance(from, Duration.ofNanos(nanos));
  }

  @Test
  void aTimeThatIsLongerThanToleratedIsReportedWithItsLength() {
    List<Claim> both =
        List.of(
            held("a", TOKENS, 1, 0, 10, 5_000_010), held("b", TOKENS, 1, 0, 4_000_010, 6_000_000));
    Capacity one = Capacity.of(1);
    assertThat(CapacityCheck.check(TOKENS, both, one, tolerated(0, 999_999)))
        .singleElement()
        .satisfies(violation -> assertThat(violation.text()).contains("for 1.0 ms"));
    assertThat(CapacityCheck.check(TOKENS, both, one, tolerated(0, 1_000_000))).isEmpty();
  }

  @Test
  void whatIsToleratedBeginsAtSomeMoment() {
    List<Claim> both = List.of(held("a", TOKENS, 1, 0, 10, 50), held("b", TOKENS, 1, 0, 40, 60));
    Capacity one = Capacity.of(1);
    assertThat(CapacityCheck.check(TOKENS, both, one, tolerated(40, 10))).isEmpty();
    assertThat(CapacityCheck.check(TOKENS, both, one, tolerated(41, 10))).hasSize(1);
  }

  /** Each turn is short, and the one beside whom they are taken does not know better for long. */
  @Test
  void turnsBesideTheSameHolderAreOneTime() {
    Claim longer = held("a", TOKENS, 1, 0, 10, 1_000);
    List<Claim> all = new ArrayList<>(List.of(longer));
    for (int i = 0; i < 9; i++) {
      all.add(held("b", TOKENS, 1, 0, 100 * i + 50, 100 * i + 110));
    }
    assertThat(CapacityCheck.check(TOKENS, all, Capacity.of(1), tolerated(0, 60)))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.at()).isEqualTo(50);
              assertThat(violation.claims()).contains(longer);
            });
    // It was in doubt in between, or the turns are far apart: each is a time of its own.
    all.set(0, longer.withoutCertainty(new Interval(110, 150)));
    assertThat(CapacityCheck.check(TOKENS, all.subList(0, 3), Capacity.of(1), tolerated(0, 60)))
        .isEmpty();
    assertThat(
            CapacityCheck.check(
                TOKENS,
                List.of(longer, all.get(1), held("b", TOKENS, 1, 0, 171, 231)),
                Capacity.of(1),
                tolerated(0, 60)))
        .isEmpty();
  }

  @Test
  void aTimeEndsWhenSlotsAreAdded() {
    History history = new History();
    history.told("admin", Command.resize(1, TOKENS, 2, 30));
    history.did("admin", new Event(1, 0, What.DONE, 0, 200, 0, 0, null));
    Capacity capacity = Capacity.in(history, TOKENS, 1, Duration.ZERO);
    List<Claim> both = List.of(held("a", TOKENS, 1, 0, 10, 90), held("b", TOKENS, 1, 0, 20, 80));
    assertThat(CapacityCheck.check(TOKENS, both, capacity, tolerated(0, 10))).isEmpty();
    assertThat(CapacityCheck.check(TOKENS, both, capacity, tolerated(0, 9))).hasSize(1);
  }

  @Test
  void whatAClientWasNotCertainOfDoesNotCount() {
    Claim first = held("a", TOKENS, 1, 0, 10, 50).withoutCertainty(new Interval(15, 40));
    assertThat(first.certain()).containsExactly(new Interval(10, 15), new Interval(40, 50));
    assertThat(check(1, first, held("b", TOKENS, 1, 0, 15, 40))).isEmpty();
    assertThat(check(1, first, held("b", TOKENS, 1, 0, 15, 41))).hasSize(1);
  }

  @Test
  void theLargerNumberCountsWhileSlotsAreTakenAway() {
    History history = new History();
    Command shrink =
        new Command(
            1,
            Command.Action.RESIZE,
            null,
            null,
            0,
            TOKENS,
            1,
            0,
            false,
            false,
            0,
            0,
            0,
            0,
            100,
            null);
    history.told("admin", shrink);
    history.did("admin", new Event(1, 0, What.DONE, 0, 200, 0, 0, null));
    Capacity capacity = Capacity.in(history, TOKENS, 2, Duration.ofNanos(50));
    assertThat(List.of(capacity.at(50), capacity.at(150), capacity.at(249), capacity.at(250)))
        .containsExactly(2, 2, 2, 1);
    assertThat(Capacity.in(history, MUTEX, 2, Duration.ZERO).at(300)).isEqualTo(2);
  }

  @Test
  void aChangeWhoseEndIsUnknownCountsUntilALaterOneIsOver() {
    History history = new History();
    history.told("admin", Command.resize(1, TOKENS, 5, 100));
    history.did("admin", new Event(1, 0, What.NOT_DONE, 0, 150, 0, 0, null));
    history.told("admin", Command.resize(2, TOKENS, 1, 200));
    history.did("admin", new Event(2, 0, What.DONE, 0, 300, 0, 0, null));
    Capacity capacity = Capacity.in(history, TOKENS, 2, Duration.ofNanos(50));
    assertThat(List.of(capacity.at(99), capacity.at(250), capacity.at(349), capacity.at(350)))
        .containsExactly(2, 5, 5, 1);
    Claim first = held("a", TOKENS, 1, 0, 10, 400);
    Claim second = held("b", TOKENS, 1, 0, 10, 340);
    assertThat(CapacityCheck.check(TOKENS, List.of(first, second), capacity, Tolerance.NONE))
        .isEmpty();
    Claim tooLong = held("b", TOKENS, 1, 345, 350, 360);
    assertThat(CapacityCheck.check(TOKENS, List.of(first, tooLong), capacity, Tolerance.NONE))
        .hasSize(1);
  }

  /** Unlike one whose end nobody knows. */
  @Test
  void aChangeThatAClientCannotMakeChangesNothing() {
    History history = new History();
    history.told("admin", Command.resize(1, TOKENS, 5, 100));
    history.did("admin", new Event(1, 0, What.UNSUPPORTED, 0, 150, 0, 0, null));
    Capacity capacity = Capacity.in(history, TOKENS, 1, Duration.ZERO);
    assertThat(List.of(capacity.at(99), capacity.at(120), capacity.at(200)))
        .containsExactly(1, 1, 1);
  }

  @Test
  void whoDoesNotLetGoOfSlotsThatWereTakenAwayBreaksThePromise() {
    History history = new History();
    history.told("admin", Command.resize(1, TOKENS, 1, 100));
    history.did("admin", new Event(1, 0, What.DONE, 0, 200, 0, 0, null));
    Capacity capacity = Capacity.in(history, TOKENS, 2, Duration.ofNanos(50));
    Claim first = held("a", TOKENS, 1, 0, 10, 400);
    assertThat(
            CapacityCheck.check(
                TOKENS, List.of(first, held("b", TOKENS, 1, 0, 10, 250)), capacity, Tolerance.NONE))
        .isEmpty();
    assertThat(
            CapacityCheck.check(
                TOKENS, List.of(first, held("b", TOKENS, 1, 0, 10, 251)), capacity, Tolerance.NONE))
        .singleElement()
        .satisfies(violation -> assertThat(violation.at()).isEqualTo(250));
  }

  @Test
  void theLargerNumberCountsFromTheBeginningOfAGrowthWhoseEndIsUnknown() {
    History history = new History();
    history.told(
        "admin",
        new Command(
            1,
            Command.Action.RESIZE,
            null,
            null,
            0,
            TOKENS,
            5,
            0,
            false,
            false,
            0,
            0,
            0,
            0,
            100,
            null));
    Capacity capacity = Capacity.in(history, TOKENS, 2, Duration.ZERO);
    assertThat(List.of(capacity.at(99), capacity.at(100), capacity.at(1_000)))
        .containsExactly(2, 5, 5);
  }
}
