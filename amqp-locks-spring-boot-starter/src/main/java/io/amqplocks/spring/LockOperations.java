package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.naming.KeyedName;

/**
 * Finds the locks of an application by their names. {@link LockTemplate} implements it; inject this
 * interface where a test is to replace it.
 *
 * <p>To look up a lock asks the broker nothing and acquires nothing: see {@link LockHandle}. Safe
 * for use by any number of threads.
 */
public interface LockOperations {

  /**
   * The semaphore of that name. Properties or annotations choose its algorithm, or else {@code
   * amqp-locks.semaphore-algorithm} does: tokens unless set otherwise. It must exist, or its slots
   * must be configured or annotated.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  LockHandle semaphore(String name);

  /**
   * The semaphore of one key of that name: the one that an annotation with this {@code name} and
   * {@code key} uses. It has the settings of the name, and stays at the broker until it is swept:
   * see {@link SemaphoreGuarded#key}.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  LockHandle semaphore(String name, String key);

  /**
   * The mutex of that name. Properties or annotations choose its algorithm; by default it is
   * the single active consumer of a queue.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  LockHandle mutex(String name);

  /**
   * The mutex of one key of that name: the one that an annotation with this {@code name} and {@code
   * key} uses. It has the settings of the name.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  LockHandle mutex(String name, String key);

  /**
   * The read lock of the read-write lock of that name. Any number of calls hold it at once, while
   * nobody has the write lock of the name. It needs no creating.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  default LockHandle readLock(String name) {
    return lock(LockId.readLock(name));
  }

  /**
   * The read lock of one key of that name: the one that an annotation with this {@code name} and
   * {@code key} uses. It has the settings of the name.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  default LockHandle readLock(String name, String key) {
    return readLock(KeyedName.of(name, key));
  }

  /**
   * The write lock of the read-write lock of that name. One call holds it at a time, while nobody
   * has the read lock of the name. It needs no creating.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  default LockHandle writeLock(String name) {
    return lock(LockId.writeLock(name));
  }

  /**
   * The write lock of one key of that name: the one that an annotation with this {@code name} and
   * {@code key} uses. It has the settings of the name.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  default LockHandle writeLock(String name, String key) {
    return writeLock(KeyedName.of(name, key));
  }

  /**
   * The lock of exactly that kind and name, whatever algorithm properties or annotations choose.
   */
  LockHandle lock(LockId id);

  /**
   * The persistent mutex of that name. An administrator must have enabled it.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  default LockHandle persistentMutex(String name) {
    return lock(LockId.persistentMutex(name));
  }

  /**
   * The token semaphore of that name, whatever algorithm {@link #semaphore(String)} has for it. It
   * must exist, or be the one that is configured.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  default LockHandle tokenSemaphore(String name) {
    return lock(LockId.tokenSemaphore(name));
  }

  /**
   * The fenced mutex of that name, whatever algorithm {@link #mutex(String)} has for it. It needs
   * no creating.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  default LockHandle fencedMutex(String name) {
    return lock(LockId.fencedMutex(name));
  }
}
