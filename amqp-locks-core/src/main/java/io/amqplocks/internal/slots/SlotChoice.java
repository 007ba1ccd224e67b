package io.amqplocks.internal.slots;

import io.amqplocks.lock.LockName;
import io.amqplocks.lock.SlotOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The order in which free slots are tried. What it remembers is a hint: being wrong costs nothing but
 * the spread.
 */
public final class SlotChoice {

  /** More semaphores than that have names that are made up as the application runs. */
  private static final int MOST_REMEMBERED = 10_000;

  private final SlotOrder order;
  private final Map<LockName, Integer> last = new ConcurrentHashMap<>();
  private final Set<LockName> doubted = ConcurrentHashMap.newKeySet();

  /** By that order. */
  public SlotChoice(SlotOrder order) {
    this.order = order;
  }

  /** The slots in the order to try them. */
  List<Integer> of(LockName semaphore, List<Integer> free) {
    return of(semaphore, free, ThreadLocalRandom.current());
  }

  List<Integer> of(LockName semaphore, List<Integer> free, RandomGenerator random) {
    List<Integer> chosen = new ArrayList<>(free);
    if (order == SlotOrder.ASCENDING) {
      Collections.sort(chosen);
      return chosen;
    }
    for (int i = chosen.size() - 1; i > 0; i--) {
      Collections.swap(chosen, i, random.nextInt(i + 1));
    }
    int remembered = chosen.indexOf(last.getOrDefault(semaphore, 0));
    if (order == SlotOrder.REMEMBERED && remembered > 0) {
      Collections.swap(chosen, 0, remembered);
    }
    return chosen;
  }

  /** This process took that slot. */
  void took(LockName semaphore, int slot) {
    if (last.size() >= MOST_REMEMBERED) {
      last.clear();
      doubted.clear();
    }
    last.put(semaphore, slot);
    doubted.remove(semaphore);
  }

  /**
   * The slot that this process had last: it is worth trying without looking. Who must look anyway, for
   * the lowest one or because the last guess was wrong, is told none.
   */
  OptionalInt guess(LockName semaphore) {
    Integer remembered =
        order == SlotOrder.ASCENDING || doubted.contains(semaphore) ? null : last.get(semaphore);
    return remembered == null ? OptionalInt.empty() : OptionalInt.of(remembered);
  }

  /** Somebody has that slot now: look before the next one is taken. */
  void doubt(LockName semaphore) {
    if (last.containsKey(semaphore)) {
      doubted.add(semaphore);
    }
  }
}
