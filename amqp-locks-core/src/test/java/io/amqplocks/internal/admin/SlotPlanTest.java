package io.amqplocks.internal.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The plan against a model of the broker: a set of slots. */
@Tag("trap-15")
class SlotPlanTest {

  private static final LockId LOCK = LockId.semaphore("s");

  /** As clients count. */
  private static int count(NavigableSet<Integer> slots) {
    return runFrom(1, slots);
  }

  private static int runFrom(int first, NavigableSet<Integer> slots) {
    int at = first;
    while (slots.contains(at)) {
      at++;
    }
    return at - first;
  }

  private static SlotPlan plan(NavigableSet<Integer> slots, int wanted) {
    return SlotPlan.create(LOCK, count(slots), wanted, runFrom(wanted + 1, slots));
  }

  /** Carries out the first steps of the plan; true if that was all. */
  private static boolean run(
      SlotPlan plan, NavigableSet<Integer> slots, int steps, Consumer<Integer> seen) {
    int done = 0;
    for (int slot : plan.delete()) {
      if (done++ == steps) {
        return false;
      }
      slots.remove(slot);
      seen.accept(count(slots));
    }
    for (int slot : plan.declare()) {
      if (done++ == steps) {
        return false;
      }
      slots.add(slot);
      seen.accept(count(slots));
    }
    return true;
  }

  /**
   * An administrator creates C slots and dies after any of its steps; another creates D. Whatever C, D
   * and the step: clients see none until all D are there, and then exactly D.
   */
  @Test
  void survivesACrashAfterEveryStep() {
    for (int c = 1; c <= 6; c++) {
      for (int d = 1; d <= 6; d++) {
        for (int crash = 0; crash <= c; crash++) {
          NavigableSet<Integer> slots = new TreeSet<>();
          int wanted = c;
          run(plan(slots, c), slots, crash, seen -> assertThat(seen).isIn(0, wanted));
          if (count(slots) == c && c != d) {
            int other = d;
            assertThatThrownBy(() -> plan(slots, other)).isInstanceOf(LockException.Conflict.class);
            continue;
          }
          int target = d;
          run(plan(slots, d), slots, Integer.MAX_VALUE, seen -> assertThat(seen).isIn(0, target));
          assertThat(count(slots)).isEqualTo(d);
        }
      }
    }
  }

  @Test
  void whatIsThereAsWantedNeedsNoStep() {
    SlotPlan plan = SlotPlan.create(LOCK, 3, 3, 0);
    assertThat(plan.delete()).isEmpty();
    assertThat(plan.declare()).isEmpty();
  }

  @Test
  void theFirstSlotComesLast() {
    SlotPlan plan = SlotPlan.create(LOCK, 0, 3, 2);
    assertThat(plan.delete()).containsExactly(5, 4);
    assertThat(plan.declare()).containsExactly(3, 2, 1);
  }
}
