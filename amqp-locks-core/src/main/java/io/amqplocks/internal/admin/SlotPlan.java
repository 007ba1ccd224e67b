package io.amqplocks.internal.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The steps that bring a semaphore to its number of slots: a pure function of what is there.
 *
 * <p>Clients count slots from the first up to the first that is absent. So the slot next to what is
 * there already is declared last: until then clients see the old number, and from then on the new one.
 * An administrator that dies on the way changed nothing that a client sees, and the next one finds the
 * same plan, or the rest of it. What an earlier, interrupted one left just above is deleted first, the
 * highest first, or it would be counted in.
 *
 * @param delete slots to delete, in this order
 * @param declare slots to declare then, in this order
 */
record SlotPlan(List<Integer> delete, List<Integer> declare) {

  /**
   * Creating a semaphore.
   *
   * @param present how many slots clients see now
   * @param wanted how many they shall see
   * @param above how many slots there are in an unbroken run right above the wanted ones
   */
  static SlotPlan create(LockId lock, int present, int wanted, int above) {
    if (present == wanted) {
      return new SlotPlan(List.of(), List.of());
    }
    if (present > 0) {
      throw new LockException.Conflict(
          "There is a %s already, with %d slots and not %d; it stays as it is"
              .formatted(lock, present, wanted));
    }
    return new SlotPlan(descending(wanted + above, wanted), descending(wanted, 0));
  }

  private static List<Integer> descending(int from, int downToButNot) {
    return IntStream.range(0, from - downToButNot).mapToObj(i -> from - i).toList();
  }
}
