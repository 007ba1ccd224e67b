package io.amqplocks.lock;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What an administrator's call did to the number of slots.
 *
 * @param before how many there were
 * @param after how many there are
 */
public record SlotChange(int before, int after) {

  /**
   * The slots that were removed, lowest first. Their holders keep them until they let go: see {@link
   * SemaphoreAdmin#awaitDrained}.
   */
  public Set<Integer> removed() {
    return range(after + 1, before);
  }

  /** The slots that were added, lowest first. */
  public Set<Integer> added() {
    return range(before + 1, after);
  }

  private static Set<Integer> range(int from, int to) {
    return IntStream.rangeClosed(from, to).boxed().collect(Collectors.toCollection(TreeSet::new));
  }
}
