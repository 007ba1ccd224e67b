package io.amqplocks.lock;

/**
 * Names the queues of mutexes and slot semaphores at the broker. Clients that share locks must
 * agree on it. Names must differ between locks, kinds and slots. A name that is longer than 255
 * bytes in UTF-8, or begins with {@code amq.}, is refused when the lock is used.
 */
public interface QueueNaming {

  /** The exclusive queue that stands for a mutex. */
  String mutex(LockName mutex);

  /**
   * A[slot] of the semaphore guideline: the slot exists while this queue does.
   *
   * @param slot the slot, from 1
   */
  String slot(LockName semaphore, int slot);

  /**
   * B[slot] of the semaphore guideline: the slot is held by the owner of this exclusive queue.
   *
   * @param slot the slot, from 1
   */
  String holder(LockName semaphore, int slot);

  /** The administration mutex of a semaphore. */
  String admin(LockName semaphore);

  /**
   * The names of {@code amqp-locks-python}: slots {@code N-A-L}, holders {@code N-B-L},
   * administration and mutex {@code N}. Its processes and ours then share the slots of one
   * semaphore and respect each other. With these names, a mutex and a semaphore must not have the
   * same name.
   */
  static QueueNaming amqpLocksPython() {
    return new QueueNaming() {
      @Override
      public String mutex(LockName mutex) {
        return mutex.value();
      }

      @Override
      public String slot(LockName semaphore, int slot) {
        return semaphore + "-A-" + slot;
      }

      @Override
      public String holder(LockName semaphore, int slot) {
        return semaphore + "-B-" + slot;
      }

      @Override
      public String admin(LockName semaphore) {
        return semaphore.value();
      }
    };
  }
}
