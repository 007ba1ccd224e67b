package io.amqplocks.prover.check;

import static io.amqplocks.prover.check.Claims.MUTEX;
import static io.amqplocks.prover.check.Claims.fenced;
import static io.amqplocks.prover.check.Claims.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import io.amqplocks.prover.history.Stored;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedRowCheckTest {

  /** Token 5 was held before token 6. */
  private static final Claim FIRST = fenced("a", 1, 5, 0, 10);

  private static final Claim SECOND = fenced("b", 1, 6, 11, 20);

  private static Stored took(int slot, long token, long total, long writes) {
    return new Stored("m", slot, token, total, writes, 100 + writes);
  }

  private static List<Violation> check(Stored... stored) {
    return GuardedRowCheck.check(MUTEX, List.of(stored), List.of(FIRST, SECOND));
  }

  @Test
  void eachHolderWritesItsTokenAndThenAddsToWhatItRead() {
    assertThat(
            check(
                took(1, 5, 0, 0),
                took(1, 5, 1, 1),
                took(1, 5, 2, 2),
                took(1, 6, 2, 2),
                took(1, 6, 3, 3)))
        .isEmpty();
    assertThat(check()).isEmpty();
  }

  @Test
  void rowsOfSlotsHaveNothingToDoWithEachOther() {
    assertThat(check(took(2, 6, 1, 1), took(1, 5, 1, 1), took(2, 6, 2, 2))).isEmpty();
  }

  @Test
  void aLowerTokenAfterAHigherOneIsIllegal() {
    assertThat(check(took(1, 6, 0, 0), took(1, 6, 1, 1), took(1, 5, 2, 2)))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.promise()).isEqualTo(Violation.Promise.GUARDED_ROW);
              assertThat(violation.claims()).containsExactly(FIRST, SECOND);
              assertThat(violation.at()).isEqualTo(102);
            });
  }

  /** The first holder read 0, and added to that with the token of the second one, which added 1. */
  @Test
  void aLostWriteIsIllegalAndIsToldOnce() {
    assertThat(check(took(1, 5, 0, 0), took(1, 6, 0, 0), took(1, 6, 1, 1), took(1, 6, 1, 2)))
        .singleElement()
        .satisfies(violation -> assertThat(violation.claims()).containsExactly(SECOND));
    assertThat(check(took(1, 6, 1, 1), took(1, 6, 1, 2), took(1, 6, 2, 3))).hasSize(1);
  }

  @Test
  void aRowWithoutTokensIsLookedAtIfAllLeasesWereReleased() {
    List<Stored> lost = List.of(took(1, 0, 1, 1), took(1, 0, 1, 2));
    Claim released = held("a", MUTEX, 1, 0, 10, 20);
    Claim unknown =
        new Claim("b", MUTEX, 1, 1, false, false, 1, 1, 0, 0, 10, List.of(), Claim.End.UNKNOWN, 20);
    assertThat(GuardedRowCheck.check(MUTEX, lost, List.of(released))).hasSize(1);
    assertThat(GuardedRowCheck.check(MUTEX, lost, List.of(released, unknown))).isEmpty();
    assertThat(GuardedRowCheck.check(MUTEX, List.of(took(1, 0, 1, 1)), List.of(released)))
        .isEmpty();
  }

  @Test
  void whoeverIsCertainAfterARefusalWasRefusedWrongly() {
    assertThat(refusals(10, 5)).hasSize(1);
    assertThat(refusals(11, 5)).hasSize(1);
  }

  @Test
  void whoeverIsInDoubtOrHasNoTokenMayBeRefused() {
    assertThat(refusals(12, 5)).isEmpty();
    assertThat(refusals(10, 0)).isEmpty();
    Claim excused = FIRST.withoutCertainty(new Interval(0, 100));
    assertThat(GuardedRowCheck.checkRefusals(MUTEX, refused(10, 5), List.of(excused))).isEmpty();
  }

  /** Of a lease that is certain from 10 to 11. */
  private static List<Violation> refusals(long at, long token) {
    return GuardedRowCheck.checkRefusals(MUTEX, refused(at, token), List.of(FIRST, SECOND));
  }

  private static History refused(long at, long token) {
    History history = new History();
    history.did("a", new Event(1, 1, What.REFUSED, 0, at, 1, token, null));
    return history;
  }
}
