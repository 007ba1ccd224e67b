package io.amqplocks.internal.slots;

import io.amqplocks.lock.LockName;
import io.amqplocks.lock.SlotOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The order in which free slots are tried. What it remembers is a hint: being wrong costs a refusal.
 */
public final class SlotChoice {

  /** More semaphores than that have names that are made up as the application runs. */
  private static final int MOST_REMEMBERED = 10_000;

  private final SlotOrder order;

  /** For how long after a look a slot may be taken without another. */
  static final long GOOD_FOR = Duration.ofSeconds(1).toNanos();

  private final Map<LockName, Memory> last = new ConcurrentHashMap<>();

  /**
   * What is known of a semaphore.
   *
   * @param slot the slot that this process had last
   * @param lookedAt when it was last seen to count, by looking at all slots up to it
   * @param doubted whether somebody else has it
   */
  private record Memory(int slot, long lookedAt, boolean doubted) {}

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
    Memory memory = last.get(semaphore);
    int remembered = memory == null ? -1 : chosen.indexOf(memory.slot);
    if (order == SlotOrder.REMEMBERED && remembered > 0) {
      Collections.swap(chosen, 0, remembered);
    }
    return chosen;
  }

  /** This process took that slot, which it had seen to be free and to count at that time. */
  void took(LockName semaphore, int slot, long lookedAt) {
    if (last.size() >= MOST_REMEMBERED) {
      last.clear();
    }
    last.put(semaphore, new Memory(slot, lookedAt, false));
  }

  /**
   * The slot that this process had last: it is worth trying without looking. Who must look anyway is told
   * none: for the lowest one, because the last guess was wrong, or because slots before this one may have
   * gone since the last look, and then it does not count.
   */
  OptionalInt guess(LockName semaphore, long now) {
    Memory memory = order == SlotOrder.ASCENDING ? null : last.get(semaphore);
    return memory == null || memory.doubted || now - memory.lookedAt >= GOOD_FOR
        ? OptionalInt.empty()
        : OptionalInt.of(memory.slot);
  }

  /** Somebody has that slot now, or it cannot be had: look before the next one is taken. */
  void doubt(LockName semaphore) {
    last.computeIfPresent(
        semaphore, (same, memory) -> new Memory(memory.slot, memory.lookedAt, true));
  }
}
