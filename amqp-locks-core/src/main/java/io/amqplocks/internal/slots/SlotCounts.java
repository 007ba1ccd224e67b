package io.amqplocks.internal.slots;

import io.amqplocks.lock.LockName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The numbers of slots that the semaphores of this process had when last seen. They determine how
 * many slots to probe at once. A wrong number costs a round trip. Only semaphores with more slots
 * than the default guess are remembered.
 */
public final class SlotCounts {

  private static final int USUAL = 7;

  private final Map<LockName, Integer> larger = new ConcurrentHashMap<>();

  /** The number of slots to expect. */
  int guess(LockName semaphore) {
    return larger.getOrDefault(semaphore, USUAL);
  }

  /** Records the number of slots that was seen. */
  void saw(LockName semaphore, int count) {
    if (count > USUAL) {
      larger.put(semaphore, count);
    } else {
      larger.remove(semaphore);
    }
  }
}
