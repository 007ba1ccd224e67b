package io.amqplocks.lock;

import java.time.Duration;
import java.util.Set;

/**
 * Administration of one persistent semaphore, as seed 001 has it: its slots are durable queues that
 * outlive every client. A semaphore without slots does not exist.
 *
 * <p>Calls may be made from any process at any time. Those that change something do it under the
 * administration mutex of the semaphore, one at a time; another administrator waits for 30 s at most.
 * Each may be made again after a crash at any step: no client ever sees a number of slots other than
 * one on the way from the old to the new, and what was left behind is tidied up. None waits for
 * holders: the holder of a removed slot keeps it until its next verification.
 *
 * <p>All of them throw {@link LockException.Unreachable}, {@link LockException.Refused} or {@link
 * LockException.Unanswered} when the broker is not to be had, refuses, or does not answer; those that
 * change something also {@link LockException.AcquireTimeout} if another administrator is at work for
 * too long and {@link LockException.Interrupted}.
 */
public interface SemaphoreAdmin {

  /** The most slots that a semaphore may have. */
  int MAX_SLOTS = 10_000;

  /**
   * Creates the semaphore, or finds it as wanted. Clients find no semaphore until all of its slots are
   * there.
   *
   * @param slots how many holders at once, 1 to {@link #MAX_SLOTS}
   * @throws LockException.Conflict if it exists with another number of slots; it is left as it is
   * @throws LockException.Invalid if the number is out of range
   */
  void create(int slots);

  /**
   * Creates the semaphore unless it exists; then its number of slots is adopted.
   *
   * @param slots how many, if it does not exist, 1 to {@link #MAX_SLOTS}
   * @return how many slots it has now
   * @throws LockException.Invalid if the number is out of range
   */
  int createIfAbsent(int slots);

  /**
   * Gives the semaphore that many slots, whatever it has now; none at all destroys it, and from none it
   * is created. Growing is seen by clients in one step.
   *
   * @param slots how many, 0 to {@link #MAX_SLOTS}
   * @throws LockException.Invalid if the number is out of range
   * @throws LockException.Conflict if it is to grow, and others made its slots, which are not durable
   */
  default SlotChange resize(int slots) {
    return resize(slots, DeleteOrder.DESCENDING);
  }

  /** As {@link #resize(int)}, with the order in which slots go if there are to be fewer. */
  SlotChange resize(int slots, DeleteOrder order);

  /**
   * Adds slots to those that there are.
   *
   * @param more how many, 1 at least
   * @throws LockException.Invalid if that makes more than {@link #MAX_SLOTS}
   * @throws LockException.Conflict if others made its slots, which are not durable
   */
  SlotChange add(int more);

  /**
   * Removes the highest slots, at most all.
   *
   * @param fewer how many, 1 at least
   */
  SlotChange remove(int fewer);

  /** Removes all slots: the semaphore exists no more. */
  default SlotChange destroy() {
    return resize(0, DeleteOrder.DESCENDING);
  }

  /**
   * How many slots the semaphore has; 0 if it does not exist. Takes no mutex; one round trip up to a
   * thousand slots.
   */
  int count();

  /**
   * Which slots are held now, lowest first; also removed ones whose holders have not let go, up to a
   * hundred above the highest slot. Takes no mutex; old by the time it returns.
   */
  Set<Integer> holders();

  /**
   * Waits until none of these slots is held, as after removing them; of use for removed slots only,
   * since others may be taken again at once.
   *
   * @return false if some are still held when the time is over
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitDrained(Set<Integer> slots, Duration wait) throws InterruptedException;

  /**
   * Waits until the slot is held, as after adding it.
   *
   * @return false if it is still free when the time is over
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitTaken(int slot, Duration wait) throws InterruptedException;

  /**
   * Deletes what lies above the highest slot, as interrupted changes and other clients may have left
   * it. It was not counted, so nobody misses it.
   *
   * @param overshoot how far above the highest slot to look, 1 to {@link #MAX_SLOTS}
   * @return how many were found and deleted
   */
  int prune(int overshoot);
}
