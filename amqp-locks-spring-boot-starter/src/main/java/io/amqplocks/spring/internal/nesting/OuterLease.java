package io.amqplocks.spring.internal.nesting;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import io.amqplocks.spring.internal.async.MinimumHold;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A lease that a call holds, as those see it that are called in the course of its work. A call that
 * wants the same lock joins the lease: it works under it, and acquires nothing. To wait for the
 * lock would be to wait for itself.
 *
 * <p>Concurrency: a lease of the first kind is confined to a thread. Only that thread can join it,
 * and does one thing at a time, so nobody has to wait. A lease of the second kind is that of work
 * which goes on after the method returned, in which several calls may join it at once, on any
 * threads. Those share its permits as {@link Loans} says: of a mutex, one call at a time works
 * under it, and of a read lock any number. Uses are counted, and the last one to end gives the
 * lease back; nobody joins after that. The minimum time only grows, by compare-and-set.
 */
// More than 300 lines: joining and leaving, by threads and by stages, share one count of uses.
public final class OuterLease {

  private static final Duration LONGEST_WAIT = Duration.ofDays(365);

  private final LockIdentity lock;
  private final Lease lease;
  private final int permits;
  private final boolean fenced;
  private final @Nullable Duration limit;
  private final @Nullable Loans loans;
  private final AtomicReference<Duration> keptFor = new AtomicReference<>(Duration.ZERO);
  private final AtomicInteger uses = new AtomicInteger(1);
  private volatile @Nullable LossWatch losses;
  private volatile boolean worked;
  private volatile boolean givenBack;

  private OuterLease(LeaseRequest acquired, Lease lease, @Nullable Loans loans) {
    lock = lease instanceof JoinedLease joined ? joined.outer().lock : acquired.lock();
    this.lease = lease;
    permits = acquired.permits();
    fenced = acquired.fenced() || (lease instanceof JoinedLease joined && joined.outer().fenced);
    limit = lease instanceof JoinedLease joined ? joined.outer().limit : acquired.holdAtMost();
    this.loans = loans;
  }

  /** The lease of work that is done when a method returns. */
  public static OuterLease ofThread(LeaseRequest acquired, Lease lease) {
    return new OuterLease(acquired, lease, null);
  }

  /** The lease of work that goes on after a method has returned. */
  public static OuterLease ofStage(LeaseRequest acquired, Lease lease) {
    // Those that join the lease of a reader read, and so can work at once.
    boolean isShared = lease.lock().kind() == LockKind.READ_LOCK;
    return new OuterLease(
        acquired, lease, new Loans(isShared ? Integer.MAX_VALUE : acquired.permits()));
  }

  /** Whether a call that holds it would wait for itself at that lock. */
  boolean concerns(LockIdentity other) {
    return lock.isSameOrOtherSide(other);
  }

  boolean isConfinedToThread() {
    return loans == null;
  }

  /** Whether it adds nothing to the one that it joined. */
  boolean isSameAsOuter() {
    return isConfinedToThread()
        && lease instanceof JoinedLease joined
        && joined.outer().isConfinedToThread();
  }

  /** Whether the lease was given back, so that it cannot be joined. */
  boolean isReleased() {
    return uses.get() == 0 || isClosed();
  }

  /** Whether nobody is under it any more. It may still be kept for a minimum time. */
  public boolean isGivenBack() {
    return givenBack;
  }

  /** Whether the call closed its lease, even if the lease is still kept for a minimum time. */
  public boolean isClosed() {
    return lease instanceof JoinedLease joined
        ? joined.outer().isClosed()
        : lease.state() == LeaseState.RELEASED || MinimumHold.isClosed(lease);
  }

  /**
   * Has it given back only when {@link #close} was called once more.
   *
   * @return false if it was given back already
   */
  boolean retain() {
    return uses.getAndUpdate(number -> number == 0 ? 0 : number + 1) > 0;
  }

  /**
   * Joins it on this thread, which waits for others that joined it.
   *
   * @return null if it was given back meanwhile
   * @throws LockException.AcquireTimeout if others are under it for too long
   * @throws LockException.Lost if it was lost
   * @throws LockException.Invalid if it is not enough for the request
   */
  @Nullable JoinedLease join(LeaseRequest request, Duration wait) {
    requireEnough(request);
    if (loans == null) {
      return retain() ? joined(request, 0) : null;
    }
    CompletableFuture<Boolean> loan = loans.borrow(request.permits());
    if (loan == null) {
      return null;
    }
    await(loan, wait);
    return joined(request, request.permits());
  }

  private void await(CompletableFuture<Boolean> loan, Duration wait) {
    try {
      loan.get(bounded(wait).toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      if (loan.cancel(false)) {
        Thread.currentThread().interrupt();
        throw of(new LockException.Interrupted("Interrupted while waiting for " + lease.lock()));
      }
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      if (loan.cancel(false)) {
        throw busy();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private JoinedLease joined(LeaseRequest request, int lent) {
    JoinedLease joined = new JoinedLease(this, lease, lent, request.holdAtLeast());
    try {
      requireNotLost();
      requireWithinLimit(request.holdAtLeast(), joined.keptUntil());
    } catch (LockException e) {
      joined.leave(false);
      throw e;
    }
    return joined;
  }

  /**
   * Joins it without a thread that waits. The future fails as {@link #join} does.
   *
   * @return null if it was given back meanwhile
   */
  @Nullable CompletableFuture<Lease> joinAsync(LeaseRequest request, Duration wait) {
    if (loans == null) {
      throw new IllegalStateException("It is confined to a thread: " + lease);
    }
    try {
      requireEnough(request);
    } catch (LockException e) {
      return CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Boolean> loan = loans.borrow(request.permits());
    if (loan == null) {
      return null;
    }
    CompletableFuture<Lease> result = new CompletableFuture<>();
    var unused =
        loan.whenComplete(
            (done, failure) -> {
              if (failure == null) {
                arrived(request, result);
              } else {
                result.completeExceptionally(failure);
              }
            });
    if (!result.isDone()) {
      Future<?> timeout =
          BackgroundExecutor.runAfter(
              bounded(wait),
              () -> BackgroundExecutor.deliver(() -> result.completeExceptionally(busy())));
      var unusedToo =
          result.whenComplete(
              (joined, failure) -> {
                timeout.cancel(false);
                loan.cancel(false);
              });
    }
    return result;
  }

  private void arrived(LeaseRequest request, CompletableFuture<Lease> result) {
    try {
      JoinedLease joined = joined(request, request.permits());
      if (!result.complete(joined)) {
        joined.leave(false);
      }
    } catch (LockException e) {
      result.completeExceptionally(e);
    }
  }

  private static Duration bounded(Duration wait) {
    return wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  private void requireEnough(LeaseRequest request) {
    requireNotLost();
    if (!lock.covers(request.lock())) {
      throw of(
          new LockException.Invalid(
              ("A call wants the %s, and is part of one that holds the read lock of that name. It would wait for"
                      + " itself: let the outer call acquire the write lock, because a writer may read too")
                  .formatted(request.lock().id())));
    }
    if (request.permits() > permits) {
      throw of(
          new LockException.Invalid(
              ("A call wants %d permits of the %s, and is part of one that holds %d of it. To wait for more could"
                      + " deadlock: let the outer call acquire %d")
                  .formatted(request.permits(), lease.lock(), permits, request.permits())));
    }
    if (request.fenced() && !fenced) {
      throw of(
          new LockException.Invalid(
              ("A call wants a fencing token of the %s, and is part of one that holds it without: say fenced ="
                      + " true at the outer call too, or fenced() if it is by LockTemplate")
                  .formatted(lease.lock())));
    }
    requireWithinLimit(request.holdAtLeast(), lease.age().plus(request.holdAtLeast()));
  }

  /** A lease that is kept on purpose must not be revoked meanwhile, and be told as lost. */
  private void requireWithinLimit(Duration atLeast, Duration end) {
    if (limit != null && !atLeast.isZero() && end.compareTo(limit) >= 0) {
      throw of(
          new LockException.Invalid(
              ("A call wants to hold the %s for %s at least from now on, and is part of one that has held it for %s"
                      + " and may hold it for %s at most. Make holdAtMost of the outer call longer than both together,"
                      + " or holdAtLeast of the nested call shorter")
                  .formatted(lease.lock(), atLeast, lease.age(), limit)));
    }
  }

  private void requireNotLost() {
    if (lease.state() == LeaseState.LOST) {
      throw of(
          new LockException.Lost(
              ("The %s was lost by the call that this one is part of: %s. This one did nothing; end the outer call,"
                      + " and call that again")
                  .formatted(
                      lease.lock(),
                      lease.lossReason().map(LossReason::toString).orElse("for no known reason")),
              null));
    }
  }

  private LockException busy() {
    return of(
        new LockException.AcquireTimeout(
            "The %s is in use by another call that is part of the same work"
                .formatted(lease.lock())));
  }

  private LockException of(LockException failure) {
    failure.initLock(lease.lock());
    return failure;
  }

  /**
   * Notifies calls that joined the lease of its loss. Two threads that come first may each make
   * one.
   */
  LossWatch losses() {
    LossWatch known = losses;
    if (known == null) {
      known = new LossWatch(lease);
      losses = known;
    }
    return known;
  }

  /** A call that joined the lease has ended. */
  void left(int lent, Duration keep) {
    keptFor.accumulateAndGet(keep, (one, other) -> one.compareTo(other) >= 0 ? one : other);
    if (loans == null) {
      release();
    } else {
      loans.giveBack(lent);
    }
  }

  /**
   * The call has ended: gives the lease back, as soon as nobody is under it.
   *
   * @param withWork whether work began under it; else it is not kept for a minimum time
   */
  public void close(boolean withWork) {
    if (withWork) {
      worked = true;
    }
    release();
  }

  private void release() {
    if (uses.decrementAndGet() == 0) {
      if (loans == null) {
        giveBack();
      } else {
        loans.end(this::giveBack);
      }
    }
  }

  private void giveBack() {
    givenBack = true;
    Duration keep = keptFor.get();
    if (lease instanceof JoinedLease joined) {
      joined.leave(worked, keep);
    } else if (worked) {
      MinimumHold.of(lease, keep).close();
    } else {
      MinimumHold.closeNow(lease);
    }
  }
}
