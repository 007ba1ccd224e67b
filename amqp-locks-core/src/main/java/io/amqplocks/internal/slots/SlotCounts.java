package io.amqplocks.internal.slots;

import io.amqplocks.lock.LockName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many slots the semaphores of this process had when last seen: a guess of how much to ask at once.
 * Being wrong costs a round trip. Only those are remembered that the first guess would not do for.
 */
public final class SlotCounts {

  private static final int USUAL = 7;

  private final Map<LockName, Integer> larger = new ConcurrentHashMap<>();

  /** The number to reckon with. */
  int guess(LockName semaphore) {
    return larger.getOrDefault(semaphore, USUAL);
  }

  /** The number that was seen. */
  void saw(LockName semaphore, int count) {
    if (count > USUAL) {
      larger.put(semaphore, count);
    } else {
      larger.remove(semaphore);
    }
  }
}
