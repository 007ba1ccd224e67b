package io.amqplocks.lock;

import java.util.Optional;

/** Administration of the locks that outlive their clients. */
public interface LockAdmin {

  /**
   * The semaphore of that name, which need not exist yet.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  SemaphoreAdmin semaphore(String name);

  /**
   * The mutex of that name, to be looked at.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  MutexAdmin mutex(String name);

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

  /**
   * The fenced mutex of that name, which is a token semaphore of one slot on a quorum queue; its first
   * acquire makes it. To be repaired or destroyed; to create it beforehand is possible too, and any
   * number but 1 and any type but {@link TokenQueueType#QUORUM} is refused with {@link
   * LockException.Invalid}.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  TokenSemaphoreAdmin fencedMutex(String name);

  /**
   * The counters of that lock's fencing tokens; the lock need not exist.
   *
   * @throws LockException.Invalid if it is a token semaphore or a fenced mutex: these draw from their
   *     tokens, and are repaired instead
   */
  FenceAdmin fence(LockId lock);

  /**
   * The queue that an operator deletes at the broker to take the slot from whoever holds it, for tools
   * that name it. Empty for tokens and persistent mutexes, which are taken back by their administrators.
   *
   * @param slot which slot, from 1; a mutex has slot 1 only
   */
  Optional<String> holderQueue(LockId lock, int slot);
}
