package io.amqplocks.internal.slots;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.DeleteOrder;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The plan against a model of the broker: a set of slots. */
@Tag("trap-15")
class SlotPlanTest {

  private static final int MOST = 5;

  /** As clients count. */
  private static int count(NavigableSet<Integer> slots) {
    int count = 0;
    while (slots.contains(count + 1)) {
      count++;
    }
    return count;
  }

  private static SlotPlan plan(NavigableSet<Integer> slots, int wanted, DeleteOrder order) {
    int present = count(slots);
    Set<Integer> above = slots.tailSet(Math.max(present, wanted), false);
    return SlotPlan.resize(present, wanted, above, order);
  }

  /** Carries out the first steps of the plan, and tells what clients see after each. */
  private static void run(SlotPlan plan, NavigableSet<Integer> slots, int steps, IntConsumer seen) {
    int left = steps;
    for (int slot : plan.delete()) {
      if (left-- == 0) {
        return;
      }
      slots.remove(slot);
      seen.accept(count(slots));
    }
    for (int slot : plan.declare()) {
      if (left-- == 0) {
        return;
      }
      slots.add(slot);
      seen.accept(count(slots));
    }
  }

  /**
   * From any set of slots, holes and leftovers included: an administrator changes the number and
   * dies after any of its steps, then another changes it again. Clients see only numbers between
   * the old and the new; growing shows them in one step; the second one gets what it wants, and
   * leaves nothing above it.
   */
  @ParameterizedTest
  @EnumSource
  void survivesACrashAfterEveryStep(DeleteOrder order) {
    int histories = 0;
    for (int set = 0; set < 1 << (MOST + 2); set++) {
      for (int first = 0; first <= MOST; first++) {
        NavigableSet<Integer> start = slots(set);
        int steps =
            plan(start, first, order).delete().size() + plan(start, first, order).declare().size();
        for (int crash = 0; crash <= steps; crash++) {
          for (int second = 0; second <= MOST; second++) {
            NavigableSet<Integer> slots = slots(set);
            change(slots, first, crash, order);
            change(slots, second, Integer.MAX_VALUE, order);
            assertThat(slots).isEqualTo(slots((1 << second) - 1));
            histories++;
          }
        }
      }
    }
    assertThat(histories).isGreaterThan(10_000);
  }

  private static void change(
      NavigableSet<Integer> slots, int wanted, int steps, DeleteOrder order) {
    int before = count(slots);
    SlotPlan plan = plan(slots, wanted, order);
    run(
        plan,
        slots,
        steps,
        seen -> {
          if (wanted >= before || order == DeleteOrder.ASCENDING) {
            assertThat(seen).isIn(before, wanted);
          } else {
            assertThat(seen).isBetween(wanted, before);
          }
        });
  }

  private static NavigableSet<Integer> slots(int set) {
    NavigableSet<Integer> slots = new TreeSet<>();
    for (int slot = 1; slot <= MOST + 2; slot++) {
      if ((set & 1 << (slot - 1)) != 0) {
        slots.add(slot);
      }
    }
    return slots;
  }

  @Test
  void whatIsThereAsWantedNeedsNoStep() {
    SlotPlan plan = SlotPlan.resize(3, 3, Set.of(), DeleteOrder.DESCENDING);
    assertThat(plan.delete()).isEmpty();
    assertThat(plan.declare()).isEmpty();
  }

  @Test
  void theSlotNextToTheOldOnesComesLast() {
    SlotPlan plan = SlotPlan.resize(2, 5, Set.of(6, 7, 9), DeleteOrder.DESCENDING);
    assertThat(plan.delete()).containsExactly(9, 7, 6);
    assertThat(plan.declare()).containsExactly(5, 4, 3);
  }

  @Test
  void slotsGoInTheOrderWanted() {
    assertThat(SlotPlan.resize(5, 2, Set.of(), DeleteOrder.DESCENDING).delete())
        .containsExactly(5, 4, 3);
    assertThat(SlotPlan.resize(5, 2, Set.of(), DeleteOrder.ASCENDING).delete())
        .containsExactly(3, 4, 5);
  }

  @ParameterizedTest
  @EnumSource
  void whatLiesAboveAHoleGoesEvenIfTheNumberIsRight(DeleteOrder order) {
    assertThat(SlotPlan.resize(3, 3, Set.of(5, 6, 8), order))
        .isEqualTo(new SlotPlan(List.of(8, 6, 5), List.of()));
  }

  @Test
  void clientsSeeTheNumberAfterTheFirstStepOfAnAscendingChange() {
    assertThat(SlotPlan.resize(4, 2, Set.of(6, 7), DeleteOrder.ASCENDING).delete())
        .containsExactly(3, 4, 7, 6);
    assertThat(SlotPlan.resize(4, 2, Set.of(6, 7), DeleteOrder.DESCENDING).delete())
        .containsExactly(7, 6, 4, 3);
  }
}
