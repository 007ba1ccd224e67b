package io.amqplocks.internal.slots;

import io.amqplocks.admin.DeleteOrder;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The steps that bring a semaphore to its number of slots, as a pure function of what exists.
 *
 * <p>Clients count slots from the first one up to the first absent one. So when the semaphore
 * grows, the slot next to the existing ones is declared last. Until then clients see the old
 * number, and after it the new one. If an administrator dies on the way, clients see no change, and
 * the next administrator gets the same plan, or the rest of it. An earlier, interrupted change may
 * have left slots right above the wanted ones. They are deleted first, the highest first, because
 * they would be counted.
 *
 * @param delete slots to delete, in this order
 * @param declare slots to declare after that, in this order
 */
record SlotPlan(List<Integer> delete, List<Integer> declare) {

  /**
   * The plan to change the number of slots.
   *
   * @param present how many slots clients see now
   * @param wanted how many slots clients are to see
   * @param above how many slots follow without a hole right above the wanted ones; matters only if
   *     more slots are wanted than present
   * @param order the order of deletions if there are to be fewer slots
   */
  static SlotPlan resize(int present, int wanted, int above, DeleteOrder order) {
    if (wanted > present) {
      return new SlotPlan(descending(wanted + above, wanted), descending(wanted, present));
    }
    List<Integer> superfluous = descending(present, wanted);
    return new SlotPlan(
        order == DeleteOrder.DESCENDING ? superfluous : superfluous.stream().sorted().toList(),
        List.of());
  }

  /** The slots from the first number, down to but not including the second one. */
  static List<Integer> descending(int from, int downToButNot) {
    return IntStream.range(0, from - downToButNot).mapToObj(i -> from - i).toList();
  }
}
