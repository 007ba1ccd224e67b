package io.amqplocks.admin;

import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Set;

/**
 * Administers one slot semaphore, as defined in the semaphore guideline. Its slots are durable
 * queues that outlive every client. A semaphore without slots does not exist.
 *
 * <p>Methods may be called from any process at any time. A change is made under the administration
 * mutex of the semaphore, one at a time; another administrator waits for at most 30 s. Each change
 * may be repeated after a crash at any step. Clients never see a number of slots that is not
 * between the old and the new one. A repeated call removes what an interrupted one left behind, and
 * so does any other change; see {@link DeleteOrder#ASCENDING}. Slots that were left behind are not
 * counted, so {@link SlotChange#removed()} does not name them. No call waits for holders: the
 * holder of a removed slot keeps it until its next verification.
 *
 * <p>All methods throw {@link LockException.Unreachable} if there is no connection to the broker,
 * {@link LockException.Refused} if it refuses, and {@link LockException.Unanswered} if it does not
 * reply in time. Methods that change something also throw {@link LockException.AcquireTimeout} if
 * another administrator takes too long, and {@link LockException.Interrupted}.
 */
public interface SlotSemaphoreAdmin extends SemaphoreAdmin {

  /**
   * Creates the semaphore, or confirms that it exists with that number of slots. Clients find no
   * semaphore until all of its slots exist.
   *
   * @param slots the number of slots, 1 to {@link #MAX_SLOTS}
   * @throws LockException.Conflict if it exists with another number of slots; it is left unchanged
   * @throws LockException.Invalid if the number is out of range
   */
  void create(int slots);

  /**
   * Sets the number of slots. 0 destroys the semaphore, and resizing one that does not exist
   * creates it. Clients see growth in one step.
   *
   * @param slots the new number of slots, 0 to {@link #MAX_SLOTS}
   * @throws LockException.Invalid if the number is out of range
   * @throws LockException.Conflict if it would grow, and other clients created its slots, which are
   *     not durable
   */
  @Override
  default SlotChange resize(int slots) {
    return resize(slots, DeleteOrder.DESCENDING);
  }

  /**
   * Sets the number of slots, like {@link #resize(int)}.
   *
   * @param order the order in which slots are deleted, if there are to be fewer
   */
  SlotChange resize(int slots, DeleteOrder order);

  /**
   * Adds slots to the existing ones.
   *
   * @param more the number of slots to add, at least 1
   * @throws LockException.Invalid if there would be more than {@link #MAX_SLOTS}
   * @throws LockException.Conflict if other clients created its slots, which are not durable
   */
  SlotChange add(int more);

  /**
   * Removes the highest slots; all of them if there are not more.
   *
   * @param fewer the number of slots to remove, at least 1
   */
  SlotChange remove(int fewer);

  /** Removes all slots. The semaphore does not exist any more. */
  @Override
  default void destroy() {
    SlotChange unused = resize(0, DeleteOrder.DESCENDING);
  }

  /**
   * The number of slots; 0 if the semaphore does not exist. It takes no mutex. Up to a thousand
   * slots it takes one round trip.
   */
  @Override
  int count();

  /** The number of held slots, as {@link #holders()} counts them. */
  @Override
  default int inUse() {
    return holders().size();
  }

  /**
   * The held slots, lowest first. They include removed slots whose holders have not released them,
   * up to a hundred above the highest slot. It takes no mutex. The result may be outdated when this
   * returns.
   */
  Set<Integer> holders();

  /**
   * Waits until none of the given slots is held. It is meant for removed slots, because others may
   * be acquired again at once.
   *
   * @return false if some are still held when the time is over
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitDrained(Set<Integer> slots, Duration wait) throws InterruptedException;

  /**
   * Waits until the given slot is held, for instance after adding it.
   *
   * @return false if it is still free when the time is over
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitTaken(int slot, Duration wait) throws InterruptedException;

  /**
   * Deletes slots above the highest slot, which interrupted changes and other clients may have
   * left. They were not counted, so nobody misses them.
   *
   * @param overshoot how far above the highest slot to look, 1 to {@link #MAX_SLOTS}
   * @return the number of slots found and deleted
   */
  int prune(int overshoot);
}
