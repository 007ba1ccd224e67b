package io.amqplocks.spring.integration;

import io.amqplocks.AmqpLocks;
import io.amqplocks.juc.ReentrantAmqpLock;
import io.amqplocks.juc.ReentrantLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's registry of locks, as mutexes on RabbitMQ. It takes the place of a {@code
 * JdbcLockRegistry} or {@code RedisLockRegistry}. Its locks are reentrant and bound to threads. Use
 * one registry for each {@code AmqpLocks} and registry key, from any number of threads.
 *
 * <p>A lock lasts until it is unlocked, its process dies, or it is lost. It needs no renewal, and
 * has a time to live only if {@link DistributedLock#lock(Duration)} or {@link
 * DistributedLock#tryLock(Duration, Duration)} set one. When that is over, the lock is lost, also
 * if its holder is alive.
 *
 * <p>What its locks do:
 *
 * <ul>
 *   <li>{@code lock()} and {@code lockInterruptibly()} throw {@link LockException.AcquireTimeout}
 *       if the lock is not free within an hour, or the time given to the constructor.
 *   <li>{@code unlock()} throws {@link ConcurrentModificationException} if the lock was lost
 *       before, as Spring Integration's own registries do, and {@link IllegalMonitorStateException}
 *       for a thread that does not hold it.
 *   <li>A thread that holds a lost lock and acquires it again gets {@link LockException.Lost}. It
 *       must unlock first. A {@code LockRegistryLeaderInitiator} does that, and is not the leader
 *       any more.
 * </ul>
 */
public final class AmqpLockRegistry
    implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

  // Nothing is kept here. Holds live with their threads (ReentrantLocks), so two objects of one
  // lock are one lock, and a registry that has seen a million keys is no larger than a new one.

  /** How long {@code lock()} waits, if the constructor was not told. */
  public static final Duration DEFAULT_LONGEST_WAIT = Duration.ofHours(1);

  private final Function<String, AmqpLock> locks;
  private final LockKeys keys;
  private final ReentrantLocks reentrant;

  /**
   * Creates a registry of {@linkplain AmqpLocks#mutex mutexes}.
   *
   * @param registryKey the name that all locks of this registry have in common; registries with the
   *     same one, in any process, have the same locks
   * @throws LockException.Invalid if the registry key is not allowed
   */
  public AmqpLockRegistry(AmqpLocks locks, String registryKey) {
    this(locks::mutex, registryKey, DEFAULT_LONGEST_WAIT);
  }

  /**
   * Creates a registry of locks that a function makes, for instance {@code locks::fencedMutex}.
   *
   * @param locks makes a lock of its name, always of the same kind
   * @param registryKey the name that all locks of this registry have in common
   * @param longestWait how long {@code lock()} and {@code lockInterruptibly()} wait at most
   * @throws LockException.Invalid if the registry key or the time is not allowed
   */
  public AmqpLockRegistry(
      Function<String, AmqpLock> locks, String registryKey, Duration longestWait) {
    this.locks = Objects.requireNonNull(locks);
    this.keys = new LockKeys(registryKey);
    this.reentrant = new ReentrantLocks(longestWait);
  }

  /**
   * The lock of that key. Its name at the broker is the registry key, a colon, and the key's text.
   * If that is no valid {@link LockName}, the key's SHA-256 takes the place of its text. Keys with
   * the same text have the same lock.
   *
   * @param lockKey a text, a number other than {@code double} and {@code float}, a boolean, a
   *     character, a UUID, an enum's constant, a time of {@code java.time}, a URI, a file or a path
   * @throws LockException.Invalid if it is of another type, whose text may differ between processes
   */
  @Override
  public DistributedLock obtain(Object lockKey) {
    return new RegistryLock(reentrantLock(lockKey));
  }

  /** Does nothing: the registry keeps no unused locks. */
  @Override
  public void expireUnusedOlderThan(long age) {}

  /**
   * Verifies with the broker that the calling thread still holds the lock. A lock without a time to
   * live needs no renewal.
   *
   * @throws IllegalStateException if the thread does not hold it, or nobody can say whether it does
   */
  @Override
  public void renewLock(Object lockKey) {
    ReentrantAmqpLock lock = reentrantLock(lockKey);
    LeaseState state =
        lock.lease()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        lock + " is not held by this thread; the one that locked it must renew it"))
            .verify();
    if (state != LeaseState.HELD) {
      throw new IllegalStateException(
          "%s is %s and cannot be renewed; %s"
              .formatted(
                  lock,
                  state,
                  state == LeaseState.UNCERTAIN
                      ? "the broker did not answer, so try again"
                      : "unlock it, and check what was done"));
    }
  }

  /**
   * Not supported. A time to live is counted from when the lock was acquired and stays as it was.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    throw new UnsupportedOperationException(
        "%s cannot get another time to live; acquire it without one, then it needs no renewal"
            .formatted(reentrantLock(lockKey)));
  }

  private ReentrantAmqpLock reentrantLock(Object lockKey) {
    return reentrant.of(locks.apply(keys.name(lockKey)));
  }
}
