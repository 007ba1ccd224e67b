package io.amqplocks.lock;

/**
 * Administration of one persistent semaphore: its slots are durable queues that outlive every client.
 * Calls may be made from any process at any time; the administration mutex of the semaphore lets one
 * change happen at a time. Each call is bounded, and may be repeated after a crash.
 */
public interface SemaphoreAdmin {

  /** The most slots that a semaphore may have. */
  int MAX_SLOTS = 10_000;

  /**
   * Creates the semaphore, or finds it as wanted.
   *
   * <p>The slots are declared from the last to the first, and clients see none until the first is
   * there: a crash half-way leaves a semaphore that does not exist yet, and the next call completes
   * it.
   *
   * @param slots how many holders at once, 1 to {@link #MAX_SLOTS}
   * @throws LockException.Conflict if it exists with another number of slots; it is left as it is
   * @throws LockException.Invalid if the number is out of range
   * @throws LockException.AcquireTimeout if another administrator is at work for too long
   */
  void create(int slots);

  /**
   * Creates the semaphore unless it exists; then its number of slots is adopted.
   *
   * @param slots how many, if it does not exist, 1 to {@link #MAX_SLOTS}
   * @return how many slots it has now
   */
  int createIfAbsent(int slots);

  /** How many slots the semaphore has; 0 if it does not exist. Takes no lock. */
  int count();
}
