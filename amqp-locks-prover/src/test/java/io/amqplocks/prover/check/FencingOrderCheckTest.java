package io.amqplocks.prover.check;

import static io.amqplocks.prover.check.Claims.MUTEX;
import static io.amqplocks.prover.check.Claims.fenced;
import static io.amqplocks.prover.check.Claims.held;
import static io.amqplocks.prover.check.Claims.reading;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.History;
import java.util.List;
import org.junit.jupiter.api.Test;

class FencingOrderCheckTest {

  private static List<Violation> check(Claim... claims) {
    return FencingOrderCheck.check(MUTEX, List.of(claims), claim -> claim.client().equals("stale"));
  }

  @Test
  void risingTokensAreLegal() {
    assertThat(check(fenced("a", 1, 1, 0, 10), fenced("b", 1, 2, 11, 20), fenced("a", 1, 7, 0, 30)))
        .isEmpty();
  }

  @Test
  void aLowerTokenAfterAHigherOneIsIllegal() {
    Claim first = fenced("a", 1, 5, 0, 10);
    Claim second = fenced("b", 1, 4, 11, 20);
    assertThat(check(second, first))
        .singleElement()
        .satisfies(violation -> assertThat(violation.claims()).containsExactly(first, second));
  }

  @Test
  void theHighestOfAllEarlierOnesCounts() {
    assertThat(check(fenced("a", 1, 9, 0, 5), fenced("a", 1, 3, 0, 6), fenced("b", 1, 4, 11, 20)))
        .hasSize(1);
  }

  @Test
  void callsThatOverlapHaveNoOrder() {
    assertThat(check(fenced("a", 1, 5, 0, 10), fenced("b", 1, 4, 9, 20))).isEmpty();
  }

  @Test
  void theSameTokenTwiceIsIllegalWhateverTheOrder() {
    assertThat(check(fenced("a", 1, 5, 0, 10), fenced("b", 1, 5, 9, 20))).hasSize(1);
  }

  @Test
  void aLeaseThatBeganInGoodFaithIsSuperseded() {
    assertThat(check(fenced("a", 1, 5, 0, 10), fenced("stale", 1, 4, 11, 20))).isEmpty();
  }

  @Test
  void slotsAreNotCompared() {
    assertThat(check(fenced("a", 1, 5, 0, 10), fenced("b", 2, 4, 11, 20))).isEmpty();
  }

  @Test
  void leasesThatNeedNoTokenAreNotCompared() {
    assertThat(check(held("a", MUTEX, 1, 0, 10, 11), held("b", MUTEX, 1, 11, 20, 21))).isEmpty();
  }

  @Test
  void aFencedLeaseWithoutATokenIsIllegal() {
    Claim without = fenced("b", 1, 0, 11, 20);
    assertThat(check(fenced("a", 1, 5, 0, 10), without))
        .singleElement()
        .satisfies(violation -> assertThat(violation.claims()).containsExactly(without));
    assertThat(check(fenced("stale", 1, 0, 0, 10))).hasSize(1);
  }

  @Test
  void whoeverAskedForATokenMustHaveOne() {
    LockRef mutex = new LockRef(LockRef.Kind.MUTEX, "m");
    assertThat(check(acquired(MUTEX, false, 0))).hasSize(1);
    assertThat(check(acquired(mutex, true, 0))).hasSize(1);
    assertThat(check(acquired(mutex, true, 7))).isEmpty();
    assertThat(check(acquired(mutex, false, 0))).isEmpty();
  }

  /** A lease as its client told of it. */
  private static Claim acquired(LockRef lock, boolean fenced, long token) {
    History history = new History();
    history.told("a", Command.work(1, lock, new Load(1, fenced, false, 0, 0, 0), 0));
    history.did("a", new Event(1, 1, What.ACQUIRED, 0, 10, 1, token, null));
    return history.claims().get(0);
  }

  @Test
  void aWritersTokenIsAboveThoseOfAllBefore() {
    Claim reader = reading(fenced("a", 1, 5, 0, 10));
    assertThat(check(reader, fenced("b", 1, 6, 11, 20))).isEmpty();
    assertThat(check(reader, fenced("b", 1, 4, 11, 20)))
        .singleElement()
        .satisfies(violation -> assertThat(violation.claims()).contains(reader));
    assertThat(check(fenced("a", 1, 5, 0, 10), fenced("b", 1, 4, 11, 20))).hasSize(1);
  }

  @Test
  void aReadersTokenIsAboveThoseOfAllWritersBefore() {
    Claim reader = reading(fenced("b", 1, 4, 21, 30));
    assertThat(check(fenced("a", 1, 3, 0, 10), reader)).isEmpty();
    assertThat(check(fenced("a", 1, 5, 0, 10), reader)).hasSize(1);
    // Another writer with a lower token, or another reader, makes no difference.
    assertThat(check(fenced("a", 1, 5, 0, 9), fenced("a", 1, 3, 0, 10), reader)).hasSize(1);
    assertThat(check(fenced("a", 1, 5, 0, 9), reading(fenced("c", 1, 7, 0, 10)), reader))
        .hasSize(1);
  }

  @Test
  void readersAmongThemselvesHaveNoOrderButTokensOfTheirOwn() {
    Claim first = reading(fenced("a", 1, 5, 0, 10));
    assertThat(check(first, reading(fenced("b", 1, 4, 11, 20)))).isEmpty();
    assertThat(check(first, reading(fenced("b", 1, 5, 11, 20)))).hasSize(1);
  }
}
