package io.amqplocks.admin;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A change of the number of slots by an administrator.
 *
 * @param before the number of slots before the call
 * @param after the number of slots after the call
 */
public record SlotChange(int before, int after) {

  /**
   * The removed slots of a slot semaphore, lowest first. Their holders keep them until they release
   * them; see {@link SlotSemaphoreAdmin#awaitDrained}. A token semaphore removes the tokens that
   * come back first, whatever their numbers; see {@link TokenStatus#pendingWithdrawals()}.
   */
  public Set<Integer> removed() {
    return range(after + 1, before);
  }

  /** The added slots, lowest first. */
  public Set<Integer> added() {
    return range(before + 1, after);
  }

  private static Set<Integer> range(int from, int to) {
    return IntStream.rangeClosed(from, to).boxed().collect(Collectors.toCollection(TreeSet::new));
  }
}
