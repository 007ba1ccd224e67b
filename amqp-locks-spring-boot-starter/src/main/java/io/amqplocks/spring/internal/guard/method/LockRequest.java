package io.amqplocks.spring.internal.guard.method;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.internal.nesting.LeaseRequest;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.spring.internal.nesting.LockIdentity;
import io.amqplocks.spring.internal.nesting.OuterLease;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lock that one call wants, with the key that it has for it.
 *
 * <p>All calls in all processes acquire theirs in the order that is given here, so that no two can
 * each wait for what the other one has.
 *
 * @param guard what wants it
 * @param key the key, or empty
 * @param handle the lock
 * @param wanted what an outer call's lease of it must have, if there is one
 */
public record LockRequest(Guard guard, String key, LockHandle handle, LeaseRequest wanted) {

  LockRequest(Guard guard, String key, LockHandle handle, int permits) {
    this(
        guard,
        key,
        handle,
        new LeaseRequest(
            (LockIdentity) handle.identity(),
            permits,
            guard.fenced(),
            guard.holdAtLeast(),
            guard.holdAtMost()));
  }

  /** The two sides of a read-write lock are one lock here, or two calls could deadlock. */
  static final Comparator<LockRequest> ORDER =
      Comparator.<LockRequest>comparingInt(request -> rank(request.guard.lock().family()))
          .thenComparing(LockRequest::fullName);

  private static int rank(Family family) {
    return switch (family) {
      case MUTEX -> 0;
      case READ_LOCK, WRITE_LOCK -> 1;
      case SEMAPHORE -> 2;
    };
  }

  boolean isSameLock(LockRequest other) {
    return ORDER.compare(this, other) == 0;
  }

  /** Whether it is for the read lock of a read-write lock. */
  boolean isOfReader() {
    return guard.lock().family() == Family.READ_LOCK;
  }

  private String fullName() {
    String name = guard.lock().name().value();
    return key.isEmpty() ? name : name + ":" + key;
  }

  /**
   * Joins the lease of a call that this one is part of, or else acquires the lock.
   *
   * @throws LockException.AcquireTimeout if it is busy
   */
  public HeldLock joinOrAcquire() {
    Lease joined = LeaseScope.join(wanted, guard.maxWait());
    Lease lease = joined == null ? acquire() : joined;
    return new HeldLock(this, lease, OuterLease.ofThread(wanted, lease));
  }

  /**
   * Joins the lease of one of those calls, or else acquires the lock, for work that goes on after
   * the method has returned.
   *
   * @throws LockException.AcquireTimeout if it is busy
   */
  public HeldLock joinOrAcquireForStage(@Nullable LeaseScope stages) {
    Lease joined = LeaseScope.join(stages, wanted, guard.maxWait());
    return heldForStage(joined == null ? acquire() : joined);
  }

  /** The lock held by that lease, for work that goes on after the method has returned. */
  public HeldLock heldForStage(Lease lease) {
    return new HeldLock(this, lease, OuterLease.ofStage(wanted, lease));
  }

  private Lease acquire() {
    return guard.maxWait().isZero()
        ? handle.tryAcquire().orElseThrow(this::busy)
        : handle.acquire();
  }

  private LockException busy() {
    LockException busy = new LockException.AcquireTimeout(name() + " is held by others");
    busy.initLock(handle.id());
    return busy;
  }

  /**
   * The consequence of a failed acquire: the missed lock if the call does something else instead,
   * or empty if it goes on without the lock.
   *
   * @param unguarded gets what tells of it, to be run when the work begins
   * @throws LockException the failure, if the caller gets it
   */
  public Optional<MissedLock> without(LockException failure, Collection<Runnable> unguarded) {
    if (guard.throwsOn(failure)) {
      throw failure;
    }
    if (guard.runsOn(failure)) {
      UnguardedRuns runs = requireNonNull(guard.unguarded());
      unguarded.add(() -> runs.ran(this, failure));
      return Optional.empty();
    }
    return Optional.of(new MissedLock(this, failure));
  }

  /**
   * Joins the lease of one of those calls, without a thread that waits; null if none has the lock.
   */
  public @Nullable CompletableFuture<Lease> joinAsync(@Nullable LeaseScope calls) {
    return LeaseScope.joinAsync(calls, wanted, guard.maxWait());
  }

  /** Acquires it without a thread that waits. */
  public CompletableFuture<Lease> acquireAsync() {
    return handle.acquireAsync();
  }

  /** The lock's name for messages. */
  public String name() {
    return key.isEmpty() ? guard.lock().toString() : guard.lock() + " of the key '" + key + "'";
  }
}
