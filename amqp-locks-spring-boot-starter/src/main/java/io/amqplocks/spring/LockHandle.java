package io.amqplocks.spring;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.async.AsyncExecution;
import io.amqplocks.spring.internal.async.CallerContext;
import io.amqplocks.spring.internal.async.MinimumHold;
import io.amqplocks.spring.internal.nesting.LeaseRequest;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.spring.internal.nesting.LockIdentity;
import io.amqplocks.spring.internal.nesting.LockOwner;
import io.amqplocks.spring.internal.nesting.NestedWork;
import io.amqplocks.spring.internal.nesting.OuterLease;
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
 *
 * <p>A call of {@code execute} or {@code tryExecute} within another call for the same lock, on the
 * same thread, joins the lease of that call: see {@link SemaphoreGuarded}. The outer call may be of
 * these methods or of an annotated one. The inner call throws {@link
 * io.amqplocks.lock.LockException.Invalid} if the outer lease has fewer permits, no fencing token,
 * or a limit that ends before the inner call's minimum. It throws {@link
 * io.amqplocks.lock.LockException.Lost} if that lease was lost. A call for the read lock joins the
 * lease of a call that has the write lock of the name. A call for the write lock within one that
 * has the read lock throws {@link io.amqplocks.lock.LockException.Invalid}: it would wait for
 * itself.
 *
 * <p>Leases that {@link #acquire}, {@link #tryAcquire} and {@link #acquireAsync} return belong to
 * no thread. They neither join nor are joined, and neither are those of {@link #executeAsync}.
 */
// More than 300 lines: a third of them are the contract.
public final class LockHandle {

  private final AmqpLock lock;
  private final Duration wait;
  private final Duration atLeast;
  private final @Nullable Duration atMost;
  private final Nesting nesting;

  /**
   * The properties that decide whether nested calls can share a lease.
   *
   * @param owner where the lock comes from
   * @param permits how many slots a lease has
   * @param isFenced whether a lease has a fencing token
   */
  private record Nesting(Object owner, int permits, boolean isFenced) {
    Nesting fenced() {
      return new Nesting(owner, permits, true);
    }

    Nesting withPermits(int number) {
      return new Nesting(owner, number, isFenced);
    }
  }

  /**
   * A handle of that lock. Nested calls share a lease if they use this handle, or handles that were
   * derived from it.
   *
   * @param wait how long calls wait for it, unless they say otherwise
   */
  public LockHandle(AmqpLock lock, Duration wait) {
    this(lock, wait, LockOwner.of(lock));
  }

  /** A handle of that lock of that owner. */
  LockHandle(AmqpLock lock, Duration wait, Object owner) {
    this(lock, wait, Duration.ZERO, null, new Nesting(owner, 1, false));
  }

  private LockHandle(
      AmqpLock lock, Duration wait, Duration atLeast, @Nullable Duration atMost, Nesting nesting) {
    this.lock = lock;
    this.wait = wait;
    this.atLeast = atLeast;
    this.atMost = atMost;
    this.nesting = nesting;
  }

  private LockHandle of(AmqpLock other) {
    return new LockHandle(other, wait, atLeast, atMost, nesting);
  }

  /** Which lock it is. */
  public LockId id() {
    return lock.id();
  }

  /**
   * The identity of this lock within this process. It is equal for two handles of the same lock of
   * the same {@code AmqpLocks}, even if the handles wait for different times. It is different for
   * any other lock, and for a lock of another {@code AmqpLocks}. It is for code that must know
   * whether it already holds a lock.
   */
  public Object identity() {
    return lockIdentity();
  }

  private LockIdentity lockIdentity() {
    return new LockIdentity(nesting.owner(), lock.id());
  }

  /** A handle of this lock whose calls wait for that long at most. */
  public LockHandle waiting(Duration longest) {
    return new LockHandle(lock, longest, atLeast, atMost, nesting);
  }

  /**
   * A handle of this lock whose leases are held for that time at least. A lease that is closed
   * earlier is released when the time since its acquire is over: see {@link
   * MutexGuarded#holdAtLeast}. The close does not wait for that.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the time is negative, or not below that of
   *     {@link #holdAtMost}
   */
  public LockHandle holdAtLeast(Duration time) {
    if (time.isNegative()) {
      throw new LockException.Invalid(
          "The time to hold %s at least is negative: %s; use zero or more"
              .formatted(lock.id(), time));
    }
    return requireLonger(new LockHandle(lock, wait, time, atMost, nesting));
  }

  /**
   * A handle of this lock whose leases are revoked when they have been held for that time: see
   * {@link AmqpLock#holdAtMost}. The revoked work goes on, while others may begin theirs.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the time is not above zero, or not above
   *     that of {@link #holdAtLeast}
   */
  public LockHandle holdAtMost(Duration time) {
    if (time.isNegative() || time.isZero()) {
      // An injected lock is looked up later, and would say so only then.
      throw new LockException.Invalid(
          "The longest time to hold %s is %s; use more than zero".formatted(lock.id(), time));
    }
    return requireLonger(new LockHandle(lock.holdAtMost(time), wait, atLeast, time, nesting));
  }

  private static LockHandle requireLonger(LockHandle handle) {
    Duration longest = handle.atMost;
    if (longest != null && longest.compareTo(handle.atLeast) <= 0) {
      throw new LockException.Invalid(
          "The longest time to hold %s, %s, is not above the shortest, %s; make it longer"
              .formatted(handle.lock.id(), longest, handle.atLeast));
    }
    return handle;
  }

  /** A handle of this lock whose leases have fencing tokens: see {@link AmqpLock#fenced()}. */
  public LockHandle fenced() {
    return new LockHandle(lock.fenced(), wait, atLeast, atMost, nesting.fenced());
  }

  /**
   * A handle of this lock whose calls are served before waiting calls of a lower priority in all
   * processes. By default the priority is 0.
   *
   * @param priority from -999 to 999
   * @throws io.amqplocks.lock.LockException.Invalid if it is not; or if the lock's algorithm has no
   *     priorities: only tokens have them
   */
  public LockHandle withPriority(int priority) {
    return of(lock.withPriority(priority));
  }

  /**
   * A handle of this lock whose calls may overtake each other in this process, for more leases a
   * second: see {@link AmqpLock#unfair()}.
   */
  public LockHandle unfair() {
    return of(lock.unfair());
  }

  /**
   * A handle of this lock whose calls throw at once in an outage, instead of waiting for the
   * broker: see {@link AmqpLock#failFast()}.
   */
  public LockHandle failFast() {
    return of(lock.failFast());
  }

  /**
   * A handle of this semaphore whose calls acquire that many slots at once, all or none: see
   * {@link AmqpLock#withPermits}.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the number is below 1 or above {@link
   *     AmqpLock#MAX_PERMITS}, or above 1 and the lock is not a semaphore
   */
  public LockHandle withPermits(int permits) {
    return new LockHandle(
        lock.withPermits(permits), wait, atLeast, atMost, nesting.withPermits(permits));
  }

  /**
   * Waits for the lock, does the work and releases the lock.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public <T extends @Nullable Object, E extends Throwable> T execute(GuardedCall<T, E> work)
      throws E {
    NestedWork nested = NestedWork.begin(joinOrAcquire());
    try {
      return work.call();
    } finally {
      nested.end();
    }
  }

  /**
   * Waits for the lock, does work that has no result, and releases the lock.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public <E extends Throwable> void execute(GuardedRun<E> work) throws E {
    NestedWork nested = NestedWork.begin(joinOrAcquire());
    try {
      work.run();
    } finally {
      nested.end();
    }
  }

  /** Does the work if the lock is free. Does not wait for a holder. */
  public <T extends @Nullable Object, E extends Throwable> Attempt<T> tryExecute(
      GuardedCall<T, E> work) throws E {
    OuterLease lease = joinOrTry();
    if (lease == null) {
      return Attempt.busy();
    }
    NestedWork nested = NestedWork.begin(lease);
    try {
      return Attempt.executed(work.call());
    } finally {
      nested.end();
    }
  }

  /**
   * Does work that has no result if the lock is free. Does not wait for a holder.
   *
   * @return whether the work ran; false if the lock was busy
   */
  public <E extends Throwable> boolean tryExecute(GuardedRun<E> work) throws E {
    OuterLease lease = joinOrTry();
    if (lease == null) {
      return false;
    }
    NestedWork nested = NestedWork.begin(lease);
    try {
      work.run();
      return true;
    } finally {
      nested.end();
    }
  }

  private OuterLease joinOrAcquire() {
    LeaseRequest request = request();
    Lease joined = LeaseScope.join(request, wait);
    return OuterLease.ofThread(request, joined == null ? acquire() : joined);
  }

  private @Nullable OuterLease joinOrTry() {
    LeaseRequest request = request();
    Lease lease;
    try {
      lease = LeaseScope.join(request, Duration.ZERO);
    } catch (LockException.AcquireTimeout busy) {
      return null;
    }
    if (lease == null) {
      lease = tryAcquire().orElse(null);
    }
    return lease == null ? null : OuterLease.ofThread(request, lease);
  }

  private LeaseRequest request() {
    return new LeaseRequest(lockIdentity(), nesting.permits(), nesting.isFenced(), atLeast, atMost);
  }

  /**
   * Does asynchronous work under the lock, without a thread that waits. When the lock is acquired,
   * the supplier is called on a thread of the library. The lock is held until the supplied stage
   * completes. Then it is released, and after that the returned future completes as the stage did.
   * The future fails with the exception of {@link #acquire()} if the lock was not acquired, and
   * with that of the supplier if it throws.
   *
   * <p>The supplier runs with the caller's context class loader. If Micrometer's {@code
   * context-propagation} is on the class path, it also runs with the caller's thread-locals that
   * have an accessor there, such as the current observation. The thread is then left as it was.
   * Other thread-locals, such as a transaction, are not there. Nor is anything of this in what is
   * chained to the returned future.
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
    CallerContext context;
    try {
      // Before the lock is acquired, which would otherwise be held for nobody.
      context = CallerContext.here();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return AsyncExecution.under(context, acquireAsync(), work);
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
