package io.amqplocks.spring.internal.guard.method;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.async.MinimumHold;
import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import io.amqplocks.spring.internal.nesting.JoinedLease;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of a guarded method, read and checked once.
 *
 * <p>Concurrency: immutable, except for the locks that all calls have in common if nothing depends
 * on the call. Two threads may both create them at first. The two results are equal.
 */
public final class GuardedMethod {

  private static final Logger log = LoggerFactory.getLogger(GuardedMethod.class);

  /**
   * If two requests are for the same lock, the first one is kept: that of a writer, or else the
   * fenced one. Its lease has everything that either requires.
   */
  private static final Comparator<LockRequest> ORDER =
      LockRequest.ORDER
          .thenComparing(LockRequest::isOfReader)
          .thenComparing(request -> !request.guard().fenced());

  private final String where;
  private final List<Guard> guards;
  private final ExecutionMode mode;
  private final Injection injection;
  private final int injected;
  private final @Nullable Object emptyResult;
  private final LossLog losses;
  private final boolean dependsOnCall;
  private final boolean watchesLoss;
  private final boolean outlivesMethod;
  private volatile @Nullable List<LockRequest> always;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * Creates the settings of a method.
   *
   * @param where the method, as messages name it
   * @param guards the method's guards, in any order
   * @param mode when the method's work ends
   * @param injection the parameters that are filled in
   * @param injected the index of the guard whose lease is filled in
   * @param emptyResult what a skipped call returns
   * @param losses logs leases that are lost while the method works
   */
  GuardedMethod(
      String where,
      List<Guard> guards,
      ExecutionMode mode,
      Injection injection,
      int injected,
      @Nullable Object emptyResult,
      LossLog losses) {
    this.where = where;
    this.guards = List.copyOf(guards);
    this.mode = mode;
    this.injection = injection;
    this.injected = injected;
    this.emptyResult = emptyResult;
    this.losses = losses;
    dependsOnCall = guards.stream().anyMatch(Guard::dependsOnCall);
    outlivesMethod = guards.stream().anyMatch(guard -> guard.releaseAfter() != ReleaseAfter.METHOD);
    watchesLoss = guards.stream().anyMatch(guard -> guard.onLost() != OnLost.NOTIFY);
  }

  public String where() {
    return where;
  }

  public ExecutionMode mode() {
    return mode;
  }

  public List<Guard> guards() {
    return guards;
  }

  /** Whether the loss of a lease has consequences for the method's calls. */
  public boolean watchesLoss() {
    return watchesLoss;
  }

  /**
   * Whether a lease may be held for longer than the method runs, by the transaction of its caller.
   */
  public boolean outlivesMethod() {
    return outlivesMethod;
  }

  /**
   * The lock requests of a call, in the order to acquire them.
   *
   * @throws LockException.Invalid if the call has no key, or no number of permits
   */
  public List<LockRequest> requests(MethodInvocation call, LockOperations locks) {
    if (dependsOnCall) {
      return inOrder(guards.stream().map(guard -> guard.by(call, locks)).toList());
    }
    List<LockRequest> found = always;
    if (found == null) {
      found = inOrder(guards.stream().map(guard -> guard.by(locks)).toList());
      always = found;
    }
    return found;
  }

  private static List<LockRequest> inOrder(List<LockRequest> any) {
    if (any.size() == 1) {
      return any;
    }
    List<LockRequest> result = new ArrayList<>(any.size());
    any.stream()
        .sorted(ORDER)
        .filter(request -> result.isEmpty() || !result.get(result.size() - 1).isSameLock(request))
        .forEachOrdered(result::add);
    return List.copyOf(result);
  }

  /**
   * A call, whose work goes on after it has returned, acquires the lock. Says so once if its thread
   * has the lock for as long as another method runs: to wait for the result there times out.
   */
  public void acquiresBesideItsThread(LockRequest request) {
    if (LeaseScope.isHeldByThread(request.wanted()) && warned.compareAndSet(false, true)) {
      log.warn(
          "{} is called by a method that holds the {}, and cannot join it: its work may go on after that method has"
              + " returned. It {} for the lock until then. Do not wait there for its result",
          where,
          request.name(),
          request.isOfReader() ? "may wait" : "waits");
    }
  }

  /**
   * A call, whose work goes on after it has returned, waits on this thread for the lock.
   *
   * @throws LockException.Invalid if the thread has it for as long as another method runs, which
   *     waits for this call
   */
  public void requireNotHeldByItsThread(LockRequest request) {
    if (LeaseScope.isHeldByThread(request.wanted())) {
      LockException invalid =
          new LockException.Invalid(
              ("%s is called on a thread that holds the %s, and would wait for itself: its work may go on after that"
                      + " method has returned, so it cannot join. Let the executor run @Async methods on threads of its"
                      + " own, or call it after the lock is released")
                  .formatted(where, request.name()));
      invalid.initLock(request.handle().id());
      throw invalid;
    }
  }

  /** A call has acquired that lease. */
  public void acquired(Lease lease) {
    if (!(lease instanceof JoinedLease)) { // or the method that it joined begins
      losses.begins(MinimumHold.unwrapped(lease), where);
    }
  }

  /**
   * Gives all locks of a call back.
   *
   * @param worked whether the method's work began
   */
  public void release(Collection<HeldLock> all, boolean worked) {
    try {
      HeldLock.close(all, worked);
    } finally {
      all.forEach(this::ended);
    }
  }

  private void ended(HeldLock held) {
    Lease lease = MinimumHold.unwrapped(held.lease());
    if (LossLog.isOver(lease) || lease instanceof JoinedLease) {
      losses.ends(lease); // one that is joined is another method's
    } else {
      boolean atLeast = held.outer().isGivenBack();
      losses.keeps(lease, where, atLeast ? "holdAtLeast" : "its transaction or nested calls");
    }
  }

  /** The arguments to run the method with. */
  public @Nullable Object[] arguments(MethodInvocation call, Iterable<HeldLock> leases) {
    if (injection.isNone()) {
      return call.getArguments();
    }
    Guard from = guards.get(injected);
    for (HeldLock held : leases) {
      if (held.request().guard().equals(from)) {
        return injection.into(call.getArguments(), watchesLoss ? held.lent() : held.lease());
      }
    }
    throw new IllegalStateException("No lease of " + from + " for " + where);
  }

  public boolean isInjected() {
    return !injection.isNone();
  }

  /** The alternative for a call that did not get its locks and is not to fail. */
  public @Nullable Object instead(MissedLock missed, MethodInvocation call) throws Throwable {
    Guard guard = missed.request().guard();
    return guard.skipsOn(missed.failure())
        ? emptyResult
        : requireNonNull(guard.fallback())
            .call(call.getThis(), call.getArguments(), missed.failure());
  }
}
