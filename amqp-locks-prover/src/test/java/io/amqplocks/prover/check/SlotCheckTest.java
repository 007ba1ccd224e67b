package io.amqplocks.prover.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotCheckTest {

  private static final LockRef SLOTS = new LockRef(Kind.SLOT_SEMAPHORE, "s");
  private static final LockRef TOKENS = new LockRef(Kind.QUORUM_TOKENS, "t");
  private static final LockRef MUTEX = new LockRef(Kind.MUTEX, "m");

  private static Claim held(String client, LockRef lock, int slot, Interval... certain) {
    return new Claim(
        client,
        lock,
        1,
        1,
        false,
        true,
        1,
        slot,
        7,
        0,
        0,
        List.of(certain),
        Claim.End.RELEASED,
        100);
  }

  @Test
  void twoLeasesOfOneSlot() {
    Claim one = held("a", SLOTS, 2, new Interval(10, 20), new Interval(30, 40));
    Claim other = held("b", SLOTS, 2, new Interval(21, 29), new Interval(39, 50));
    assertThat(SlotCheck.check(SLOTS, List.of(one, other)))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.promise()).isEqualTo(Promise.CAPACITY);
              assertThat(violation.at()).isEqualTo(39);
              assertThat(violation.claims()).containsExactly(one, other);
              assertThat(violation.text()).startsWith("a #1.1 and b #1.1 both had slot 2 of");
            });
  }

  @Test
  void oneAfterTheOther() {
    Claim one = held("a", SLOTS, 2, new Interval(10, 20));
    Claim other = held("b", SLOTS, 2, new Interval(20, 50));
    assertThat(SlotCheck.check(SLOTS, List.of(one, other))).isEmpty();
  }

  @Test
  void twoSlots() {
    Claim one = held("a", SLOTS, 1, new Interval(10, 20));
    Claim other = held("b", SLOTS, 2, new Interval(10, 20));
    assertThat(SlotCheck.check(SLOTS, List.of(one, other))).isEmpty();
  }

  @Test
  void aTokenMayBeExchanged() {
    Claim one = held("a", TOKENS, 1, new Interval(10, 20));
    Claim other = held("b", TOKENS, 1, new Interval(10, 20));
    assertThat(SlotCheck.check(TOKENS, List.of(one, other))).isEmpty();
  }

  /** Capacity says all of a lock without slots. */
  @Test
  void onlySemaphoresHaveSlots() {
    Claim one = held("a", MUTEX, 1, new Interval(10, 20));
    Claim other = held("b", MUTEX, 1, new Interval(10, 20));
    assertThat(SlotCheck.check(MUTEX, List.of(one, other))).isEmpty();
  }
}
