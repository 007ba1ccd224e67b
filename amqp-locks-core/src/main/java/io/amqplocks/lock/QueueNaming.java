package io.amqplocks.lock;

/**
 * How the queues of mutexes and semaphores are called at the broker. Clients that shall share locks must
 * agree on it. Names must differ for different locks, kinds and slots; a name that is longer than 255
 * bytes in UTF-8, or begins with {@code amq.}, is refused when the lock is used.
 */
public interface QueueNaming {

  /** The exclusive queue that stands for a mutex. */
  String mutex(LockName mutex);

  /** A[slot] of seed 001: the slot, from 1, exists while this queue does. */
  String slot(LockName semaphore, int slot);

  /** B[slot] of seed 001: the slot is held by the owner of this exclusive queue. */
  String holder(LockName semaphore, int slot);

  /** The administration mutex of a semaphore. */
  String admin(LockName semaphore);

  /**
   * The names of {@code amqp-locks-python}: slots {@code N-A-L}, holders {@code N-B-L}, administration
   * and mutex {@code N}. A process of its kind and one of ours then share the slots of one semaphore
   * and respect each other. A mutex and a semaphore must not have the same name there.
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
