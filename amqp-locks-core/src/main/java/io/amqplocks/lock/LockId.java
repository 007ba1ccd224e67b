package io.amqplocks.lock;

/**
 * Identifies a lock. Locks with the same name and different kinds are different locks and do not
 * exclude each other, with two exceptions. The read lock and the write lock of one name do. A mutex
 * and an exclusive-queue mutex of one name have the same queue, and cannot be used together.
 *
 * @param kind the kind of lock
 * @param name the name within the kind
 */
public record LockId(LockKind kind, LockName name) {

  /** The mutex of that name. */
  public static LockId mutex(String name) {
    return new LockId(LockKind.MUTEX, LockName.of(name));
  }

  /** The exclusive-queue mutex of that name. */
  public static LockId exclusiveQueueMutex(String name) {
    return new LockId(LockKind.EXCLUSIVE_QUEUE_MUTEX, LockName.of(name));
  }

  /** The persistent mutex of that name. */
  public static LockId persistentMutex(String name) {
    return new LockId(LockKind.PERSISTENT_MUTEX, LockName.of(name));
  }

  /** The slot semaphore of that name. */
  public static LockId slotSemaphore(String name) {
    return new LockId(LockKind.SLOT_SEMAPHORE, LockName.of(name));
  }

  /** The token semaphore of that name. */
  public static LockId tokenSemaphore(String name) {
    return new LockId(LockKind.TOKEN_SEMAPHORE, LockName.of(name));
  }

  /** The fenced mutex of that name. */
  public static LockId fencedMutex(String name) {
    return new LockId(LockKind.FENCED_MUTEX, LockName.of(name));
  }

  /** The read lock of the read-write lock of that name. */
  public static LockId readLock(String name) {
    return new LockId(LockKind.READ_LOCK, LockName.of(name));
  }

  /** The write lock of the read-write lock of that name. */
  public static LockId writeLock(String name) {
    return new LockId(LockKind.WRITE_LOCK, LockName.of(name));
  }

  /** The lock as messages name it: {@code token semaphore 'images'}. */
  @Override
  public String toString() {
    return kind.label() + " '" + name + "'";
  }
}
