package io.amqplocks.lock;

/**
 * Which lock: a mutex and a semaphore of one name are two locks.
 *
 * @param kind the family
 * @param name the name within the family
 */
public record LockId(LockKind kind, LockName name) {

  /** The mutex of that name. */
  public static LockId mutex(String name) {
    return new LockId(LockKind.MUTEX, LockName.of(name));
  }

  /** The persistent mutex of that name. */
  public static LockId persistentMutex(String name) {
    return new LockId(LockKind.PERSISTENT_MUTEX, LockName.of(name));
  }

  /** The semaphore of that name. */
  public static LockId semaphore(String name) {
    return new LockId(LockKind.SEMAPHORE, LockName.of(name));
  }

  /** The token semaphore of that name. */
  public static LockId tokenSemaphore(String name) {
    return new LockId(LockKind.TOKEN_SEMAPHORE, LockName.of(name));
  }

  /** The fenced mutex of that name. */
  public static LockId fencedMutex(String name) {
    return new LockId(LockKind.FENCED_MUTEX, LockName.of(name));
  }

  /** As it stands in messages: {@code semaphore 'images'}. */
  @Override
  public String toString() {
    return kind.label() + " '" + name + "'";
  }
}
