package io.amqplocks.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.Optional;

/** Administers the locks that outlive their clients. */
public interface LockAdmin {

  /**
   * The semaphore with that id, of either kind. A fenced mutex is administered as a token semaphore
   * of one slot.
   *
   * @throws LockException.Invalid if it is another kind of lock, which has no slots to administer
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
   * The read-write lock of that name, for inspection.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  ReadWriteLockAdmin readWriteLock(String name);

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
   * Removes token semaphores, or fenced mutexes, of keys that nobody uses: locks of that kind whose
   * names are {@code name:key} ({@link LockName#withoutKey}). It finds the keys that any process
   * has ever created. A removed fenced mutex is created again at its next use. With the starter, so
   * is a removed semaphore. Without it, a removed semaphore is not found until it is created again.
   *
   * <p>This call looks at each lock as its only administrator. It removes the lock if all of this
   * is true:
   *
   * <ul>
   *   <li>All of its tokens are idle now.
   *   <li>All of its tokens were idle at an earlier call, and were not acquired since.
   *   <li>That call was that long ago, by the clocks of the machines that called.
   * </ul>
   *
   * <p>So it takes two calls at least. A classic queue does not show whether a token was acquired.
   * There the lock is removed if it was idle at all calls in between. No holder ever loses its
   * token by this. A call that tries to acquire one at the moment of the look, for up to 0.1 s, may
   * find the lock busy. A lock that is created again has the slots that its creator is configured
   * with, so a resize is undone.
   *
   * <p>A lock also stays if it was created or changed within the last hour, if anything of it is to
   * be {@linkplain TokenSemaphoreAdmin#repair repaired}, or if another administrator is at work. A
   * lock that cannot be looked at stays too, and stops no other. If the index of the keys fails,
   * the call returns what it has removed, and throws only if that is nothing.
   *
   * <p>The call ends after about half a minute or a thousand keys. Later calls go on with those
   * that are {@linkplain KeySweep#left left}, and then begin again. Call it on a schedule, and not
   * in a loop until none is left.
   *
   * @param name the kind, and the name without a key
   * @param unused for how long nobody must have used a lock, zero or more
   * @throws LockException.Invalid if it is another kind of lock, if the name has a key, or if the
   *     semaphores follow the plain protocol
   */
  KeySweep sweepKeys(LockId name, Duration unused);

  /**
   * The queue that an operator deletes at the broker to revoke the slot from its holder, for tools
   * that display it. For a read lock it is revoked from all readers. Empty for tokens and
   * persistent mutexes, which their administrators revoke.
   *
   * @param slot the slot, from 1; a lock without slots has slot 1 only
   */
  Optional<String> holderQueue(LockId lock, int slot);

  /** The broker's virtual host that has the queues of all locks, for tools that display it. */
  String virtualHost();
}
