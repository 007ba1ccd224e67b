package io.amqplocks.spring;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.internal.disabled.DisabledLock;
import java.time.Duration;

/**
 * Decides which lock a name stands for, and how long calls wait for it. The auto-configured
 * resolver goes by properties and annotations. A bean of this type replaces it for the {@link
 * LockTemplate} and for injected {@link LockHandle}s.
 */
public interface LockResolver {

  /**
   * The id of the lock of that family and name, which includes the kind of lock. It must be the
   * same for as long as the application runs: it is asked once for an annotated method without a
   * key.
   *
   * @throws IllegalStateException if the application's settings for it contradict each other
   */
  LockId resolve(Family family, LockName name);

  /** The lock with that id, ready to be acquired. */
  AmqpLock lock(LockId id);

  /** How long a call waits for the lock of that family and name by default. */
  Duration maxWait(Family family, LockName name);

  /**
   * A resolver of locks that are always free and guard nothing, for an application whose locks are
   * switched off and for tests. Their leases are held until they are closed, and have no fencing
   * tokens.
   */
  static LockResolver withoutLocks() {
    return new LockResolver() {
      @Override
      public LockId resolve(Family family, LockName name) {
        return switch (family) {
          case MUTEX -> LockId.mutex(name.value());
          case SEMAPHORE -> LockId.tokenSemaphore(name.value());
          case READ_LOCK -> LockId.readLock(name.value());
          case WRITE_LOCK -> LockId.writeLock(name.value());
        };
      }

      @Override
      public AmqpLock lock(LockId id) {
        return new DisabledLock(id);
      }

      @Override
      public Duration maxWait(Family family, LockName name) {
        return Duration.ZERO;
      }
    };
  }
}
