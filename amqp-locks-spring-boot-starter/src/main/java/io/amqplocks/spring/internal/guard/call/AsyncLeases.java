package io.amqplocks.spring.internal.guard.call;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.internal.async.AsyncCall;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.HeldLock;
import io.amqplocks.spring.internal.guard.method.LockRequest;
import io.amqplocks.spring.internal.guard.method.MissedLock;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one call that no thread waits for: acquired one after the other, and given back
 * together.
 *
 * <p>Concurrency: leases arrive on threads of the library, and the end may come at any time on any
 * thread. Both are ordered by the lock: a lease that arrives before the end is in the list that the
 * end gives back, and one that arrives after it is given back by its arrival. An attempt that is
 * under way at the end is cancelled; if it begins after the end was looked for, it sees the end
 * itself. So each lease is given back once, and none is left. No broker is asked and no future
 * completed under the lock.
 */
final class AsyncLeases {

  private final GuardedMethod method;
  private final List<LockRequest> requests;
  private final @Nullable LeaseScope around;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<HeldLock> leases = new ArrayDeque<>();
  private final List<Runnable> unguarded = new ArrayList<>(0);
  private final CompletableFuture<Optional<MissedLock>> acquired = new CompletableFuture<>();
  private @Nullable CompletableFuture<Lease> attempt;
  private boolean ended;
  private boolean inBody;
  private volatile boolean worked;

  /**
   * The locks of one call.
   *
   * @param around the leases of the calls that it is part of
   */
  AsyncLeases(GuardedMethod method, List<LockRequest> requests, @Nullable LeaseScope around) {
    this.method = method;
    this.requests = requests;
    this.around = around;
  }

  /**
   * Acquires all locks. The future is empty when all are held. It has the lock that was not
   * acquired if the call does something else instead; otherwise it fails with the exception. In
   * each case the leases that are held must be closed.
   */
  CompletableFuture<Optional<MissedLock>> acquire() {
    next(0);
    return acquired;
  }

  /**
   * Acquires them on this thread, which waits. It is an executor's, which has nothing of the
   * caller's, but for an executor that runs tasks on the thread of its caller.
   */
  @Nullable MissedLock acquireHere() {
    return SynchronousCall.acquire(
        method,
        requests,
        leases,
        unguarded,
        request -> {
          method.requireNotHeldByItsThread(request);
          return request.joinOrAcquireForStage(around);
        });
  }

  private void next(int index) {
    if (index == requests.size()) {
      LockException loss = HeldLock.lossBeforeWork(held());
      if (loss == null) {
        acquired.complete(Optional.empty());
      } else {
        acquired.completeExceptionally(loss);
      }
      return;
    }
    CompletableFuture<Lease> begun;
    try {
      begun = begin(requests.get(index));
    } catch (RuntimeException | Error e) {
      acquired.completeExceptionally(e);
      return;
    }
    boolean late;
    lock.lock();
    try {
      late = ended;
      attempt = begun;
    } finally {
      lock.unlock();
    }
    var unused = begun.whenComplete((lease, failure) -> arrived(index, lease, failure));
    if (late) {
      begun.cancel(true);
    }
  }

  private CompletableFuture<Lease> begin(LockRequest request) {
    CompletableFuture<Lease> joined = request.joinAsync(around);
    if (joined != null) {
      return joined;
    }
    method.acquiresBesideItsThread(request);
    return request.acquireAsync();
  }

  private void arrived(int index, @Nullable Lease lease, @Nullable Throwable failure) {
    if (lease == null) {
      failed(index, failure);
      return;
    }
    HeldLock held = requests.get(index).heldForStage(lease);
    boolean late;
    lock.lock();
    try {
      late = ended;
      if (!late) {
        leases.push(held);
      }
    } finally {
      lock.unlock();
    }
    if (late) {
      BackgroundExecutor.run(() -> held.outer().close(false));
      acquired.completeExceptionally(new CancellationException("The call was cancelled"));
    } else {
      method.acquired(lease);
      next(index + 1);
    }
  }

  private void failed(int index, @Nullable Throwable failure) {
    LockRequest each = requests.get(index);
    Throwable cause =
        failure == null
            ? new CancellationException("The call was cancelled")
            : AsyncCall.unwrapped(failure);
    if (!(cause instanceof LockException known)) {
      acquired.completeExceptionally(cause);
      return;
    }
    Optional<MissedLock> missed;
    try {
      missed = each.without(known, unguarded);
    } catch (RuntimeException | Error e) {
      // Whatever it is: the call must end, and give back what it holds.
      acquired.completeExceptionally(e);
      return;
    }
    if (missed.isPresent()) {
      acquired.complete(missed);
    } else {
      next(index + 1);
    }
  }

  /** The work begins under them. */
  void workBegins() {
    worked = true;
    unguarded.forEach(Runnable::run);
  }

  /**
   * A method that brings a publisher begins under them. Until it has brought it, nothing can be
   * cancelled, and a close waits for {@link #bodyEnded}. False if the call has ended, so that the
   * method must not begin.
   */
  boolean bodyBegins() {
    lock.lock();
    try {
      inBody = !ended;
      return inBody;
    } finally {
      lock.unlock();
    }
  }

  /** The method has ended. False if the call was closed meanwhile. What is held then goes back. */
  boolean bodyEnded() {
    boolean late;
    lock.lock();
    try {
      inBody = false;
      late = ended;
    } finally {
      lock.unlock();
    }
    if (late) {
      BackgroundExecutor.run(this::close);
    }
    return !late;
  }

  /** The leases that are held, within those of the calls that this one is part of. */
  @Nullable LeaseScope scope() {
    LeaseScope scope = around;
    for (HeldLock held : held()) {
      scope = LeaseScope.with(held.outer(), scope);
    }
    return scope;
  }

  /** The leases that are held. */
  List<HeldLock> held() {
    lock.lock();
    try {
      return List.copyOf(leases);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the waiting, and gives back what is held and what is still to arrive; waits for the
   * broker. While a method is under way whose publisher is not there yet, its end does that.
   */
  void close() {
    CompletableFuture<Lease> under;
    List<HeldLock> all;
    lock.lock();
    try {
      ended = true;
      under = attempt;
      if (inBody) {
        return;
      }
      all = List.copyOf(leases);
      leases.clear();
    } finally {
      lock.unlock();
    }
    if (under != null) {
      under.cancel(true);
    }
    method.release(all, worked);
  }
}
