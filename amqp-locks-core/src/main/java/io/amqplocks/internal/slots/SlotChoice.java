package io.amqplocks.internal.slots;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.SlotOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The order in which free slots are tried. What it remembers is a hint. A wrong hint costs a
 * refusal.
 */
public final class SlotChoice {

  private final SlotOrder order;

  /** For how long after a scan a slot may be acquired without another scan. */
  static final long GOOD_FOR = Duration.ofSeconds(1).toNanos();

  private final BoundedMap<LockName, Memory> last = new BoundedMap<>();

  /**
   * What is known of a semaphore.
   *
   * @param slot the slot that this process held last
   * @param lookedAt when a scan of all slots up to it last showed that it counts
   * @param doubted whether another client may hold it
   */
  private record Memory(int slot, long lookedAt, boolean doubted) {}

  /** Creates a choice with that order. */
  public SlotChoice(SlotOrder order) {
    this.order = order;
  }

  /** The free slots in the order in which to try them. */
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

  /**
   * This process acquired that slot. A scan at the given time had shown that it was free and
   * counts.
   */
  void took(LockName semaphore, int slot, long lookedAt) {
    last.put(semaphore, new Memory(slot, lookedAt, false));
  }

  /**
   * The slot that this process held last, which is worth trying without a scan. Empty if a scan is
   * needed: to find the lowest slot, because the last guess was wrong, or because slots before this
   * one may have been removed since the last scan. In that case this slot does not count.
   */
  OptionalInt guess(LockName semaphore, long now) {
    Memory memory = order == SlotOrder.ASCENDING ? null : last.get(semaphore);
    return memory == null || memory.doubted || now - memory.lookedAt >= GOOD_FOR
        ? OptionalInt.empty()
        : OptionalInt.of(memory.slot);
  }

  /**
   * Another client holds that slot now, or it cannot be acquired. The next acquire begins with a
   * scan.
   */
  void doubt(LockName semaphore) {
    last.computeIfPresent(
        semaphore, (same, memory) -> new Memory(memory.slot, memory.lookedAt, true));
  }
}
