package io.amqplocks.internal.slots;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockName;
import io.amqplocks.lock.SlotOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SlotChoiceTest {

  private static final LockName NAME = LockName.of("s");
  private static final List<Integer> FREE = List.of(3, 1, 4, 2);

  private final Random random = new Random(1);

  @Test
  void ascendingTakesTheLowest() {
    SlotChoice choice = new SlotChoice(SlotOrder.ASCENDING);
    choice.took(NAME, 4, 0);
    assertThat(choice.of(NAME, FREE, random)).containsExactly(1, 2, 3, 4);
  }

  @Test
  void randomBeginsWithEachAboutAsOften() {
    SlotChoice choice = new SlotChoice(SlotOrder.RANDOM);
    choice.took(NAME, 4, 0);
    int[] first = new int[5];
    Set<List<Integer>> orders = new HashSet<>();
    for (int i = 0; i < 4000; i++) {
      List<Integer> order = choice.of(NAME, FREE, random);
      assertThat(order).containsExactlyInAnyOrderElementsOf(FREE);
      orders.add(order);
      first[order.get(0)]++;
    }
    assertThat(orders).hasSize(24);
    for (int slot = 1; slot <= 4; slot++) {
      assertThat(first[slot]).isBetween(850, 1150);
    }
  }

  @Test
  void rememberedBeginsWithTheLastOneIfItIsFree() {
    SlotChoice choice = new SlotChoice(SlotOrder.REMEMBERED);
    choice.took(NAME, 4, 0);
    for (int i = 0; i < 100; i++) {
      assertThat(choice.of(NAME, FREE, random)).startsWith(4).hasSize(4);
    }
    choice.took(LockName.of("another"), 1, 0);
    assertThat(choice.of(NAME, FREE, random)).startsWith(4);
    choice.took(NAME, 9, 0);
    assertThat(choice.of(NAME, FREE, random)).containsExactlyInAnyOrderElementsOf(FREE);
  }

  @Test
  void nothingFreeIsNoOrder() {
    for (SlotOrder order : SlotOrder.values()) {
      assertThat(new SlotChoice(order).of(NAME, List.of(), random)).isEmpty();
    }
  }

  @Test
  void theLastOneIsGuessedForASecondUnlessSomebodyHasIt() {
    SlotChoice choice = new SlotChoice(SlotOrder.RANDOM);
    assertThat(choice.guess(NAME, 0)).isEmpty();
    choice.took(NAME, 3, 1_000);
    assertThat(choice.guess(NAME, 1_000)).hasValue(3);
    assertThat(choice.guess(NAME, 999 + SlotChoice.GOOD_FOR)).hasValue(3);
    assertThat(choice.guess(NAME, 1_000 + SlotChoice.GOOD_FOR)).isEmpty();
    choice.doubt(NAME);
    assertThat(choice.guess(NAME, 1_000)).isEmpty();
    choice.took(NAME, 2, 1_000);
    assertThat(choice.guess(NAME, 1_000)).hasValue(2);
    SlotChoice ascending = new SlotChoice(SlotOrder.ASCENDING);
    ascending.took(NAME, 3, 0);
    assertThat(ascending.guess(NAME, 0)).as("the lowest one is wanted").isEmpty();
  }
}
