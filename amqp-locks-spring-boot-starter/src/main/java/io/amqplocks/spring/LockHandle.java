package io.amqplocks.spring;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.async.AsyncExecution;
import io.amqplocks.spring.internal.async.MinimumHold;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One lock, and how long to wait for it. A call acquires the lock, does its work and releases the
 * lock when the work has returned or thrown. Handles are immutable, and safe for use by any number
 * of threads.
 *
 * <p>Besides the exceptions of the work, each call throws {@link io.amqplocks.lock.LockException}
 * as {@link AmqpLock} says; then the work did not run. A lease that is lost meanwhile does not stop
 * the work: it is logged at WARN. Listen for {@link LeaseLostEvent}, or acquire a {@link Lease} and
 * ask it.
 */
public final class LockHandle {

  private final AmqpLock lock;
  private final Duration wait;
  private final Duration atLeast;

  /**
   * A handle of that lock.
   *
   * @param wait how long calls wait for it, unless they say otherwise
   */
  public LockHandle(AmqpLock lock, Duration wait) {
    this(lock, wait, Duration.ZERO);
  }

  private LockHandle(AmqpLock lock, Duration wait, Duration atLeast) {
    this.lock = lock;
    this.wait = wait;
    this.atLeast = atLeast;
  }

  /** Which lock it is. */
  public LockId id() {
    return lock.id();
  }

  /** A handle of this lock whose calls wait for that long at most. */
  public LockHandle waiting(Duration atMost) {
    return new LockHandle(lock, atMost, atLeast);
  }

  /**
   * A handle of this lock whose leases are kept until that time since they were acquired is over, if
   * they are closed earlier: see {@link MutexGuarded#holdAtLeast}. To close a lease does not wait for
   * that.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the time is negative
   */
  public LockHandle holdAtLeast(Duration time) {
    if (time.isNegative()) {
      throw new LockException.Invalid(
          "The time to hold %s at least is negative: %s; use zero or more"
              .formatted(lock.id(), time));
    }
    return new LockHandle(lock, wait, time);
  }

  /** A handle of this lock whose leases have fencing tokens: see {@link AmqpLock#fenced()}. */
  public LockHandle fenced() {
    return new LockHandle(lock.fenced(), wait, atLeast);
  }

  /**
   * A handle of this lock whose calls are served before waiting calls of a lower priority in all
   * processes. By default the priority is 0.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the lock's algorithm has no priorities; only
   *     tokens have them
   */
  public LockHandle withPriority(int priority) {
    return new LockHandle(lock.withPriority(priority), wait, atLeast);
  }

  /**
   * A handle of this lock whose calls may overtake each other in this process, for more leases a
   * second: see {@link AmqpLock#unfair()}.
   */
  public LockHandle unfair() {
    return new LockHandle(lock.unfair(), wait, atLeast);
  }

  /**
   * A handle of this lock whose calls throw at once in an outage, instead of waiting for the broker:
   * see {@link AmqpLock#failFast()}.
   */
  public LockHandle failFast() {
    return new LockHandle(lock.failFast(), wait, atLeast);
  }

  /**
   * A handle of this semaphore whose calls acquire that many slots at once, all or none: see {@link
   * AmqpLock#withPermits}.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the number is below 1 or above {@link
   *     AmqpLock#MAX_PERMITS}, or above 1 and the lock is not a semaphore
   */
  public LockHandle withPermits(int permits) {
    return new LockHandle(lock.withPermits(permits), wait, atLeast);
  }

  /**
   * Waits for the lock, does the work and releases the lock.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public <T extends @Nullable Object, E extends Throwable> T execute(GuardedCall<T, E> work)
      throws E {
    Lease lease = acquire();
    try {
      return work.call();
    } finally {
      lease.close();
    }
  }

  /**
   * Waits for the lock, does work that has no result, and releases the lock.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public <E extends Throwable> void execute(GuardedRun<E> work) throws E {
    Lease lease = acquire();
    try {
      work.run();
    } finally {
      lease.close();
    }
  }

  /** Does the work if the lock is free. Does not wait for a holder. */
  public <T extends @Nullable Object, E extends Throwable> Attempt<T> tryExecute(
      GuardedCall<T, E> work) throws E {
    Optional<Lease> lease = tryAcquire();
    if (lease.isEmpty()) {
      return Attempt.busy();
    }
    try {
      return Attempt.executed(work.call());
    } finally {
      lease.get().close();
    }
  }

  /**
   * Does work that has no result if the lock is free. Does not wait for a holder.
   *
   * @return whether the work ran; false if the lock was busy
   */
  public <E extends Throwable> boolean tryExecute(GuardedRun<E> work) throws E {
    Optional<Lease> lease = tryAcquire();
    if (lease.isEmpty()) {
      return false;
    }
    try {
      work.run();
      return true;
    } finally {
      lease.get().close();
    }
  }

  /**
   * Does asynchronous work under the lock, without a thread that waits. When the lock is acquired,
   * the supplier is called on a thread of the library. The lock is held until the supplied stage
   * completes. Then it is released, and after that the returned future completes as the stage did.
   * The future fails with the exception of {@link #acquire()} if the lock was not acquired, and
   * with that of the supplier if it throws.
   *
   * <p>The supplier runs with the caller's context class loader. Other thread-locals of the caller,
   * such as a security context, a transaction or the MDC, are not there.
   *
   * <p>A caller that completes the returned future itself, for example by cancelling it or by
   * {@code orTimeout}, ends the waiting. Work that has begun keeps the lock until its stage has
   * completed, because cancelling a {@code CompletableFuture} does not stop the work that completes
   * it. A stage whose class has a {@code cancel} method of its own is cancelled, and trusted to
   * stop its work; the futures of {@code Mono.toFuture()} and of the JDK's HTTP client are such
   * stages. A stage that never completes keeps the lock for ever, so give it a timeout of its own.
   */
  public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
      Supplier<? extends CompletionStage<T>> work) {
    return AsyncExecution.under(acquireAsync(), work);
  }

  /**
   * Waits for the lock. The caller must close the lease, on any thread.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public Lease acquire() {
    try {
      return MinimumHold.of(lock.acquire(wait), atLeast);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for " + lock.id());
    }
  }

  /**
   * Acquires the lock without a thread that waits, as {@link AmqpLock#acquireAsync} says. The
   * future is completed on a thread of the library, and cancelling it ends the waiting. The caller
   * must close the lease. This method itself throws nothing.
   */
  public CompletableFuture<Lease> acquireAsync() {
    try {
      return MinimumHold.of(lock.acquireAsync(wait), atLeast);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Acquires the lock if it is free. The caller must close the lease. */
  public Optional<Lease> tryAcquire() {
    return lock.tryAcquire().map(lease -> MinimumHold.of(lease, atLeast));
  }
}
