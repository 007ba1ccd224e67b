package io.amqplocks.lock;

/** Administration of the locks that outlive their clients. */
public interface LockAdmin {

  /**
   * The semaphore of that name, which need not exist yet.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  SemaphoreAdmin semaphore(String name);

  /**
   * The persistent mutex of that name, which need not be enabled yet.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  PersistentMutexAdmin persistentMutex(String name);

  /**
   * The token semaphore of that name, which need not exist yet.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  TokenSemaphoreAdmin tokenSemaphore(String name);

  /** The counters of that lock's fencing tokens; the lock need not exist. */
  FenceAdmin fence(LockId lock);
}
