package io.amqplocks.internal.slots;

import io.amqplocks.admin.DeleteOrder;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The steps that bring a semaphore to its number of slots, as a pure function of what exists.
 *
 * <p>Clients count slots from the first one up to the first absent one. So when the semaphore
 * grows, the slot next to the existing ones is declared last. Until then clients see the old
 * number, and after it the new one. If an administrator dies on the way, clients see no change, and
 * the next administrator gets the same plan, or the rest of it.
 *
 * <p>An earlier, interrupted change may have left slots above a hole. They are not counted, but
 * some may still be held. So every change deletes them, the highest first. If the semaphore grows
 * up to them they would be counted, so they are deleted before it grows.
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
   * @param above the slots that exist above both the present and the wanted ones
   * @param order the order of deletions if there are to be fewer slots
   */
  static SlotPlan resize(int present, int wanted, Set<Integer> above, DeleteOrder order) {
    Stream<Integer> left = above.stream().sorted(Comparator.reverseOrder());
    Stream<Integer> superfluous = descending(present, wanted).stream();
    // Clients are to see the new number after the first step of an ascending change.
    Stream<Integer> delete =
        order == DeleteOrder.DESCENDING
            ? Stream.concat(left, superfluous)
            : Stream.concat(superfluous.sorted(), left);
    return new SlotPlan(delete.toList(), descending(wanted, present));
  }

  /** The slots from the first number, down to but not including the second one. */
  private static List<Integer> descending(int from, int downToButNot) {
    return IntStream.range(0, from - downToButNot).mapToObj(i -> from - i).toList();
  }
}
