package io.amqplocks.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Optional;

/** Administers the locks that outlive their clients. */
public interface LockAdmin {

  /**
   * The semaphore with that id, of either kind. A fenced mutex is administered as a token semaphore
   * of one slot.
   *
   * @throws LockException.Invalid if it is another kind of mutex, which has no slots to administer
   */
  SemaphoreAdmin semaphore(LockId id);

  /**
   * The slot semaphore of that name, which need not exist yet.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  SlotSemaphoreAdmin slotSemaphore(String name);

  /**
   * The mutex of that name, for inspection.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  MutexAdmin mutex(String name);

  /**
   * The exclusive-queue mutex of that name, for inspection.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  MutexAdmin exclusiveQueueMutex(String name);

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
   * The fenced mutex of that name, to repair or destroy it. It is a token semaphore of one slot on
   * a quorum queue. Its first acquire creates it; creating it beforehand is possible too. Any
   * number of slots but 1, and any type but {@link TokenQueueType#QUORUM}, is refused with {@link
   * LockException.Invalid}.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  TokenSemaphoreAdmin fencedMutex(String name);

  /**
   * The counters of that lock's fencing tokens, and those that the locks with keys of that name
   * share. The lock need not exist.
   *
   * @throws LockException.Invalid if it is a token semaphore or a fenced mutex; they draw from
   *     their tokens, and are repaired instead
   */
  FenceAdmin fence(LockId lock);

  /**
   * The queue that an operator deletes at the broker to revoke the slot from its holder, for tools
   * that display it. Empty for tokens and persistent mutexes, which their administrators revoke.
   *
   * @param slot the slot, from 1; a mutex has slot 1 only
   */
  Optional<String> holderQueue(LockId lock, int slot);
}
