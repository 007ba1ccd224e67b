package io.amqplocks.internal.admin;

import io.amqplocks.lock.DeleteOrder;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The steps that bring a semaphore to its number of slots: a pure function of what is there.
 *
 * <p>Clients count slots from the first up to the first that is absent. So when growing, the slot next
 * to what is there already is declared last: until then clients see the old number, and from then on
 * the new one. An administrator that dies on the way changed nothing that a client sees, and the next
 * one finds the same plan, or the rest of it. What an earlier, interrupted change left right above the
 * wanted slots is deleted first, the highest first, or it would be counted in.
 *
 * @param delete slots to delete, in this order
 * @param declare slots to declare then, in this order
 */
record SlotPlan(List<Integer> delete, List<Integer> declare) {

  /**
   * From what is there to what is wanted.
   *
   * @param present how many slots clients see now
   * @param wanted how many they shall see
   * @param above how many slots there are in an unbroken run right above the wanted ones, if that is
   *     more than the present ones
   * @param order how to delete if there are to be fewer
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

  /** Slots from the one on down to, and without, the other. */
  static List<Integer> descending(int from, int downToButNot) {
    return IntStream.range(0, from - downToButNot).mapToObj(i -> from - i).toList();
  }
}
