package io.amqplocks.juc;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes {@link java.util.concurrent.locks.Lock}s of locks at the broker. All that one object of
 * this class makes of locks with the same id are one lock to a thread, however many there are. So
 * create one for each {@code AmqpLocks} and share it. It may be used by any number of threads.
 *
 * <p>Do not give one object locks of two {@code AmqpLocks}. Locks of one name at two brokers, or
 * under two queue prefixes, have the same id. A thread that holds the one would seem to hold the
 * other.
 *
 * <p>Locks that two objects of this class make are not reentrant with each other: a thread that
 * holds the one and acquires the other waits for itself, until its time is over.
 */
public final class ReentrantLocks {

  private static final Duration MAX = Duration.ofDays(365);

  // What a thread holds is known to that thread only, so nothing here needs a lock. A thread that
  // holds nothing leaves nothing behind, whatever names it has used.
  @SuppressWarnings("ThreadLocalUsage") // One for each object: it belongs to one AmqpLocks.
  private final ThreadLocal<@Nullable Map<LockId, Hold>> holds = new ThreadLocal<>();

  private final Duration longestWait;

  /**
   * Creates an object whose locks wait for that time at most in {@code lock()} and {@code
   * lockInterruptibly()}, which cannot be given a time.
   *
   * @throws LockException.Invalid if the time is not above zero, or is longer than 365 days
   */
  public ReentrantLocks(Duration longestWait) {
    if (longestWait.isNegative() || longestWait.isZero() || longestWait.compareTo(MAX) > 0) {
      throw new LockException.Invalid(
          "A lock() cannot wait for %s at most; use a time above zero, up to 365 days"
              .formatted(longestWait));
    }
    this.longestWait = longestWait;
  }

  /**
   * That lock as a {@link java.util.concurrent.locks.Lock}. Of a semaphore, each thread holds one
   * slot, or as many as {@link AmqpLock#withPermits} says. A thread that holds the lock already
   * keeps the lease that it has, also if it acquires it by a view with other permits, another
   * priority, or fencing tokens. The returned object is cheap and needs no keeping.
   */
  public ReentrantAmqpLock of(AmqpLock lock) {
    return new ReentrantAmqpLock(Objects.requireNonNull(lock), this);
  }

  Duration longestWait() {
    return longestWait;
  }

  @Nullable Hold held(LockId lock) {
    Map<LockId, Hold> mine = holds.get();
    return mine == null ? null : mine.get(lock);
  }

  void keep(Hold hold) {
    Map<LockId, Hold> mine = holds.get();
    if (mine == null) {
      mine = new HashMap<>();
      holds.set(mine);
    }
    mine.put(hold.lease.lock(), hold);
  }

  void forget(LockId lock) {
    Map<LockId, Hold> mine = holds.get();
    if (mine != null && mine.remove(lock) != null && mine.isEmpty()) {
      holds.remove();
    }
  }
}
