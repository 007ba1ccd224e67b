package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.guard.declared.KeyExpression;
import io.amqplocks.spring.internal.guard.declared.Permits;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One lock that a method wants to hold.
 *
 * @param lock the semaphore, the mutex, or the side of the read-write lock
 * @param key which of that name; null if there is only one
 * @param permits how many of its slots it wants at once
 * @param maxWait how long it waits for it; zero does not wait
 * @param holdAtLeast how long it is held at least
 * @param holdAtMost how long it is held at most; null without a limit
 * @param priority waiters with the highest priority are served first
 * @param fenced whether its lease has a token
 * @param fair whether waiters of this process are served in the order of arrival
 * @param onBusy what to do when it is busy
 * @param onUnavailable what to do when the broker is unavailable, not the default
 * @param fallback what to call instead; null unless one of the two says so
 * @param onLost what to do when its lease is lost
 * @param releaseAfter when its lease is released
 * @param unguarded is notified of calls that run without it; null unless {@code onUnavailable} says
 *     so
 */
public record Guard(
    FamilyId lock,
    @Nullable KeyExpression key,
    Permits permits,
    Duration maxWait,
    Duration holdAtLeast,
    @Nullable Duration holdAtMost,
    int priority,
    boolean fenced,
    boolean fair,
    OnBusy onBusy,
    OnUnavailable onUnavailable,
    @Nullable Fallback fallback,
    OnLost onLost,
    ReleaseAfter releaseAfter,
    @Nullable UnguardedRuns unguarded) {

  /** The lock request of one call. */
  LockRequest by(MethodInvocation call, LockOperations locks) {
    return in(locks, key == null ? null : key.of(call), permits.of(call));
  }

  /** The lock request of all calls, if it does not depend on the call. */
  LockRequest by(LockOperations locks) {
    return in(locks, null, permits.fixed());
  }

  /** Whether the lock request depends on the call. */
  boolean dependsOnCall() {
    return key != null || permits.expression() != null;
  }

  private LockRequest in(LockOperations locks, @Nullable String keyed, int wanted) {
    String name = lock.name().value();
    LockHandle handle =
        switch (lock.family()) {
          case MUTEX -> keyed == null ? locks.mutex(name) : locks.mutex(name, keyed);
          case SEMAPHORE -> keyed == null ? locks.semaphore(name) : locks.semaphore(name, keyed);
          case READ_LOCK -> keyed == null ? locks.readLock(name) : locks.readLock(name, keyed);
          case WRITE_LOCK -> keyed == null ? locks.writeLock(name) : locks.writeLock(name, keyed);
        };
    handle = handle.waiting(maxWait).holdAtLeast(holdAtLeast);
    handle = holdAtMost == null ? handle : handle.holdAtMost(holdAtMost);
    handle = wanted == 1 ? handle : handle.withPermits(wanted);
    handle = priority == 0 ? handle : handle.withPriority(priority);
    handle = fair ? handle : handle.unfair();
    handle = onUnavailable == OnUnavailable.WAIT ? handle : handle.failFast();
    return new LockRequest(
        this, keyed == null ? "" : keyed, fenced ? handle.fenced() : handle, wanted);
  }

  /** Whether the method is skipped if acquiring fails in this way. */
  boolean skipsOn(LockException failure) {
    return failure.isOutage() ? onUnavailable == OnUnavailable.SKIP : onBusy == OnBusy.SKIP;
  }

  /** Whether the method runs without the lock if acquiring fails in this way. */
  boolean runsOn(LockException failure) {
    return failure.isOutage() && onUnavailable == OnUnavailable.RUN;
  }

  /** Whether the caller gets the exception if acquiring fails in this way. */
  boolean throwsOn(LockException failure) {
    if (failure.isOutage()) {
      return onUnavailable == OnUnavailable.WAIT || onUnavailable == OnUnavailable.FAIL;
    }
    return !(failure instanceof LockException.AcquireTimeout)
        || onBusy == OnBusy.WAIT
        || onBusy == OnBusy.THROW;
  }

  /** The lock's name for messages. */
  public String described() {
    return key == null ? lock.toString() : lock + " with the key " + key;
  }
}
