package io.amqplocks.admin;

import io.amqplocks.lock.LockException;

/**
 * Administers a semaphore of either kind. {@link SlotSemaphoreAdmin} and {@link
 * TokenSemaphoreAdmin} have further operations, and say how changes are carried out.
 */
public interface SemaphoreAdmin {

  /** The largest number of slots of a semaphore. */
  int MAX_SLOTS = 10_000;

  /**
   * Creates the semaphore unless it exists. The number of slots of an existing semaphore is not
   * changed.
   *
   * @param slots the number of slots if it does not exist, 1 to {@link #MAX_SLOTS}
   * @return the present number of slots
   * @throws LockException.Invalid if the number is out of range
   */
  int createIfAbsent(int slots);

  /**
   * Changes the number of slots. New slots can be acquired at once. Holders of excess slots are not
   * interrupted.
   *
   * @param slots the new number of slots, up to {@link #MAX_SLOTS}
   * @throws LockException.Invalid if the number is out of range
   */
  SlotChange resize(int slots);

  /** Removes the semaphore. Its holders lose their leases at their next verification. */
  void destroy();

  /**
   * The number of slots; 0 if the semaphore does not exist. It may be outdated when this returns.
   */
  int count();

  /** The number of slots in use. It may be outdated when this returns. */
  int inUse();
}
