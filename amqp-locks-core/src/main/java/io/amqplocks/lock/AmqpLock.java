package io.amqplocks.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that several processes share through the broker. Safe for use by any number of threads;
 * cheap to hold on to. Not reentrant: a second acquire is a second lease.
 */
public interface AmqpLock {

  /** Which lock this is. */
  LockId id();

  /**
   * The same lock with a {@link FencingToken} in each lease. Fenced and other acquires exclude each
   * other as ever and share one line of waiters; a token costs about two more round trips and a write to
   * a quorum queue. The first fenced acquire ever of a slot makes its counter, which takes longer.
   *
   * <p>A token semaphore on a quorum queue has tokens at no further cost; on a classic queue it has none.
   *
   * <p>Acquires of it also throw {@link LockException.FenceUnavailable}, at once and whatever the
   * caller would wait.
   */
  AmqpLock fenced();

  /**
   * The same lock for calls that the broker shall serve before all that wait with a lower priority, in
   * any process. Threads of this process that wait with the same priority share a line. A free slot goes
   * to whoever asks first. Default: 0.
   *
   * @throws LockException.Invalid if this kind of lock has no priorities; token semaphores and fenced
   *     mutexes have
   */
  AmqpLock withPriority(int priority);

  /**
   * Takes a slot if one is free, without waiting for a holder and without overtaking this process's
   * own waiters. Takes a few round trips to the broker, bounded by the call timeout; opening a
   * connection or a channel first, which most calls need not, is bounded by as much again.
   *
   * @return the lease, or empty if all slots are held (or others won the race for the last one)
   * @throws LockException.NotFound if it is a semaphore that nobody created, or a persistent mutex
   *     that nobody enabled
   * @throws LockException.Conflict if what stands for it at the broker cannot guard it
   * @throws LockException.Unreachable if there is no connection to be had
   * @throws LockException.Refused if credentials or permissions do not suffice
   * @throws LockException.Unanswered if the broker did not answer in time; what was begun is undone as
   *     soon as it does
   */
  Optional<Lease> tryAcquire();

  /**
   * Takes a slot, waiting for one up to a bound. Threads of this process are served in the order of
   * their calls; between processes there is no order but the broker's turns. A waiter that gives up
   * leaves nothing behind.
   *
   * <p>A connection that breaks while waiting is opened again; but if none was ever opened, the first
   * failure is thrown at once.
   *
   * @param wait how long to wait, zero or more; the last attempt may overrun it by twice what
   *     {@link #tryAcquire()} takes
   * @throws LockException.AcquireTimeout if no slot came free in time
   * @throws InterruptedException if the thread is interrupted while waiting
   * @throws LockException as {@link #tryAcquire()} does, if the last attempt within the bound failed
   *     so, or waiting cannot help
   */
  Lease acquire(Duration wait) throws InterruptedException;

  /**
   * The same without a thread that waits. The returned future completes with what {@link #acquire} would
   * return or throw, on a thread of the library that nothing else needs. Cancelling it gives the place in the line up; a lease
   * that had come about already is given back.
   */
  CompletableFuture<Lease> acquireAsync(Duration wait);
}
