package io.amqplocks.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that processes share through the broker. It may be used by any number of threads, and is
 * cheap to keep. It is not reentrant: a second acquire is a second lease.
 */
public interface AmqpLock {

  /** How many permits one lease can have. */
  int MAX_PERMITS = 100;

  /** The highest priority; the lowest one is its negative. */
  int MAX_PRIORITY = 999;

  /** The id of this lock. */
  LockId id();

  /**
   * Returns a view of this lock whose leases have a {@link FencingToken}. Fenced and unfenced
   * acquires exclude each other and share one queue of waiters.
   *
   * <p>A token costs about two more round trips and a write to a quorum queue, its counter, when
   * the slot is acquired at the broker, and nothing when it is handed over within the process. The
   * first fenced acquire of a slot creates the counter, which takes longer, and the counter stays
   * at the broker. Locks whose names are {@code name:key} share 16 counters for each name ({@link
   * LockName#withoutKey}), so there may be as many keys as orders. In a token semaphore on a quorum
   * queue, tokens cost nothing. On a classic queue there are none.
   *
   * <p>Acquires of the returned lock also throw {@link LockException.FenceUnavailable}. They throw
   * it at once, however long the caller would wait.
   */
  AmqpLock fenced();

  /**
   * Returns a view of this lock for calls with that priority. The broker serves waiters with a
   * higher priority before all waiters with a lower one, in any process. Waiters of this process
   * with the same priority share one queue. A priority does not reserve a free slot: the first
   * request takes it. The default priority is 0. The priorities above the highest are those of
   * administrators and of holders, which must get a message before all waiters.
   *
   * @param priority from {@code -}{@value #MAX_PRIORITY} to {@value #MAX_PRIORITY}
   * @throws LockException.Invalid if it is not; or if this kind of lock has no priorities: only
   *     token semaphores and fenced mutexes have them
   */
  AmqpLock withPriority(int priority);

  /**
   * Returns a view of this lock for calls that may overtake each other in this process. A call that
   * comes just when another one of the same priority releases takes the slot before those that have
   * waited longer. That saves a change of threads, so the process gets many more leases while its
   * threads contend. Once the first waiting call of the process has waited for 100 ms, it is served
   * next. {@link #tryAcquire} is not affected.
   *
   * <p>Other processes get their turn as before. Where fair and unfair calls wait for one lock, the
   * fair ones may be overtaken too.
   */
  AmqpLock unfair();

  /**
   * Returns a view of this lock for calls that do not wait for the broker. They wait for a busy
   * lock as all calls do. But in an {@linkplain LockException#isOutage() outage} they throw {@link
   * LockException.Unreachable} or {@link LockException.Unanswered} at once, where others ask the
   * broker again until their time is over.
   *
   * <p>At once means within the bound of {@link #tryAcquire()}: the call timeout, and the same time
   * again if a connection has to be opened. That long takes only the call that finds out. While a
   * further attempt to connect is under way, or the pause before it lasts, which is two seconds at
   * most, calls throw the last failure without waiting. A call that waits for a busy lock notices a
   * broken connection as soon as it breaks, and a silent broker when it next asks.
   */
  AmqpLock failFast();

  /**
   * Returns a view of this lock whose leases are revoked when they have been held for that time,
   * counted from when each was acquired. It is for callers that would rather have others go on than
   * wait for a holder that hangs. By default a lease lasts until it is closed or lost.
   *
   * <p>This client revokes the lease by its own monotonic clock, whether or not the broker can be
   * reached. The lease is then {@link LeaseState#LOST} by {@link LossReason.Cause#HOLD_LIMIT}, and
   * the holder is notified as of any loss. After that its slots are released. <strong>Nothing stops
   * the holder's code</strong>: the next holder may begin while it still runs. Where that would do
   * harm, let the resource check the token of a {@link #fenced()} lease.
   *
   * <p>After a pause of the process that lasts beyond the limit, the first call of {@link
   * Lease#state()} says LOST. In a machine that is suspended as a whole, the clock may stand still.
   *
   * @throws LockException.Invalid if the time is not above zero
   */
  AmqpLock holdAtMost(Duration time);

  /**
   * Returns a view of this lock for calls that acquire that many slots at once, as one lease: all
   * of them or none. The default is 1.
   *
   * <p>A call that waits keeps the slots that it has received, so it is not starved by calls for
   * fewer. These slots are idle until it has all of them or its time is over. To keep two such
   * calls from waiting for each other with half of the slots each, one of them collects at a time.
   * Processes take turns in the order of arrival. Within a process, calls for several permits wait
   * in a FIFO queue of their own, beside that of calls for one; {@link #unfair()} makes no
   * difference to them. With {@link #withPriority priorities}, they are ordered by them within the
   * process; at the broker, the priority applies while a call collects. Waiters for one with a
   * higher priority are served before a call that collects, so it may starve.
   *
   * <p>{@link #tryAcquire()} does not wait for slots to become free. Two calls that try at the same
   * moment may both find too few, if there are not enough slots for both.
   *
   * <p>Code that holds a slot and waits for more of the same semaphore can deadlock: the slot that
   * it waits for may be held by another caller that does the same. Acquire all of them by one call.
   *
   * <p>The slots of a lease are verified one after the other within one call, and each held token
   * occupies a channel. So there are {@value #MAX_PERMITS} at most.
   *
   * <p>All acquires of the returned lock also throw {@link LockException.Conflict} if the semaphore
   * has fewer slots. A call that waits notices within some seconds that slots were removed. With
   * {@code TokenNaming.blog()}, where any message is a token, nobody knows the number of slots, and
   * such a call ends with its time.
   *
   * @throws LockException.Invalid if the number is below 1 or above {@value #MAX_PERMITS}, or above
   *     1 and this lock is not a semaphore
   */
  AmqpLock withPermits(int permits);

  /**
   * Acquires a slot if one is free. It does not wait for a holder. It asks the broker even if other
   * threads of this process wait, and may overtake those, as {@code
   * java.util.concurrent.locks.ReentrantLock.tryLock} may.
   *
   * <p>It takes a few round trips to the broker, which are bounded by the call timeout. If a
   * connection or a channel has to be opened first, which most calls do not need, that is bounded
   * by the same time again.
   *
   * <p>In a token semaphore the last idle token may be on its way just then. A holder that acquired
   * its token without waiting has an idle one for some hundred microseconds as well, when it
   * verifies its lease for the first time. Whoever must not miss that token uses {@link #acquire}
   * with a short wait.
   *
   * @return the lease, or empty if all slots are held or others acquired the last one first
   * @throws LockException.NotFound if it is a semaphore that nobody created, or a persistent mutex
   *     that nobody enabled
   * @throws LockException.Conflict if its queue at the broker cannot guard it
   * @throws LockException.Unreachable if there is no connection to the broker
   * @throws LockException.Refused if credentials or permissions do not suffice
   * @throws LockException.Unanswered if the broker did not reply in time; what was begun is undone
   *     as soon as it does
   */
  Optional<Lease> tryAcquire();

  /**
   * Acquires a slot, and waits for one for a limited time. Calls of this process are served in the
   * order of arrival, unless they are {@link #unfair}. Between processes there is no order except
   * the broker's. A waiter that gives up leaves nothing behind.
   *
   * <p>If the connection breaks while a caller waits, it is opened again. If no connection was ever
   * opened, the first failure is thrown at once.
   *
   * @param wait how long to wait; zero asks the broker once, as {@link #tryAcquire()} does; the
   *     last attempt may exceed the time by twice the bound of {@link #tryAcquire()}
   * @throws LockException.AcquireTimeout if no slot became free in time
   * @throws InterruptedException if the thread is interrupted while waiting
   * @throws LockException as {@link #tryAcquire()} does, if the last attempt in time failed that
   *     way or waiting cannot help
   */
  Lease acquire(Duration wait) throws InterruptedException;

  /**
   * Acquires that many slots as one lease, all or none, and waits for them for a limited time. It
   * is short for {@code withPermits(permits).acquire(wait)}.
   *
   * @throws LockException.AcquireTimeout if not all became free in time; the others are released
   * @throws LockException.Conflict if the semaphore has fewer slots
   * @throws InterruptedException if the thread is interrupted while waiting
   * @throws LockException as {@link #withPermits} and {@link #acquire(Duration)} do
   */
  default Lease acquire(int permits, Duration wait) throws InterruptedException {
    return withPermits(permits).acquire(wait);
  }

  /**
   * Acquires a slot like {@link #acquire}, without a thread that waits. The future completes with
   * what {@code acquire} would return or throw. It completes on a thread of the library that
   * nothing else needs. Cancelling it withdraws from the FIFO queue of waiters. A lease that was
   * already acquired is then released.
   */
  CompletableFuture<Lease> acquireAsync(Duration wait);
}
