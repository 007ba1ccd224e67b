package io.amqplocks.internal.slots;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.lock.LockName;

/**
 * The numbers of slots that the semaphores of this process had when last seen. They determine how
 * many slots to probe at once. A wrong number costs a round trip. Only semaphores with more slots
 * than the default guess are remembered.
 */
public final class SlotCounts {

  private static final int USUAL = 7;

  private final BoundedMap<LockName, Integer> larger = new BoundedMap<>();

  /** The number of slots to expect. */
  int guess(LockName semaphore) {
    Integer seen = larger.get(semaphore);
    return seen == null ? USUAL : seen;
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
