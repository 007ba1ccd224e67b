package io.amqplocks.prover.driver;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/** The locks of this project, by the names of the line protocol. */
public final class CoreLocks {

  private CoreLocks() {}

  /** Which lock that is; of a read-write lock, the write lock; of a consumer, its mutex. */
  public static LockId id(LockRef lock) {
    return id(lock, false);
  }

  /**
   * Which lock that is.
   *
   * @param reads whether the read lock of a read-write lock is meant, and not the write lock
   */
  public static LockId id(LockRef lock, boolean reads) {
    return switch (lock.kind()) {
      case MUTEX, SOLE_CONSUMER, ACTIVE_QUEUE -> LockId.mutex(lock.name());
      case EXCLUSIVE_QUEUE_MUTEX -> LockId.exclusiveQueueMutex(lock.name());
      case PERSISTENT_MUTEX -> LockId.persistentMutex(lock.name());
      case FENCED_MUTEX, FENCED_SOLE_CONSUMER -> LockId.fencedMutex(lock.name());
      case SLOT_SEMAPHORE -> LockId.slotSemaphore(lock.name());
      case CLASSIC_TOKENS, QUORUM_TOKENS -> LockId.tokenSemaphore(lock.name());
      case READ_WRITE_LOCK -> reads ? LockId.readLock(lock.name()) : LockId.writeLock(lock.name());
    };
  }

  /**
   * Creates a semaphore with that many slots, or enables a persistent mutex.
   *
   * @throws IllegalArgumentException if it is another lock, which needs no creating
   */
  public static void create(AmqpLocks locks, LockRef lock, int slots) {
    switch (lock.kind()) {
      case PERSISTENT_MUTEX -> locks.admin().persistentMutex(lock.name()).enable();
      case SLOT_SEMAPHORE -> {
        int unused = locks.admin().slotSemaphore(lock.name()).createIfAbsent(slots);
      }
      case CLASSIC_TOKENS -> createTokens(locks, lock, slots, TokenQueueType.CLASSIC);
      case QUORUM_TOKENS -> createTokens(locks, lock, slots, TokenQueueType.QUORUM);
      case MUTEX,
          EXCLUSIVE_QUEUE_MUTEX,
          FENCED_MUTEX,
          READ_WRITE_LOCK,
          SOLE_CONSUMER,
          FENCED_SOLE_CONSUMER,
          ACTIVE_QUEUE ->
          throw new IllegalArgumentException("A lock like " + lock + " needs no creating");
    }
  }

  /**
   * Changes the number of slots of a semaphore. Tokens in use come back before it returns.
   *
   * @throws IllegalStateException if some did not come back in time
   */
  public static void resize(AmqpLocks locks, LockRef lock, int slots, Duration withdrawal)
      throws InterruptedException {
    var unused = locks.admin().semaphore(id(lock)).resize(slots);
    if (lock.kind().hasTokens()
        && !locks.admin().tokenSemaphore(lock.name()).awaitWithdrawn(withdrawal)) {
      throw new IllegalStateException("Tokens of " + lock + " are left to be withdrawn");
    }
  }

  private static void createTokens(AmqpLocks locks, LockRef lock, int slots, TokenQueueType type) {
    int unused = locks.admin().tokenSemaphore(lock.name()).createIfAbsent(slots, type);
  }
}
