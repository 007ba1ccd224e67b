package io.amqplocks.spring.internal.guard.call;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.internal.guard.declared.UnfinishedResult;
import io.amqplocks.spring.internal.guard.declared.UnguardableMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.HeldLock;
import io.amqplocks.spring.internal.guard.method.LockRequest;
import io.amqplocks.spring.internal.guard.method.MissedLock;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** A call of a method that works until it returns. */
public final class SynchronousCall {

  private final GuardedMethod method;
  private final MethodInvocation call;

  public SynchronousCall(GuardedMethod method, MethodInvocation call) {
    this.method = method;
    this.call = call;
  }

  /**
   * Acquires the locks, runs the method, and gives them back however it ends.
   *
   * @throws IllegalStateException if it returns what it did not say that it returns: something
   *     whose work goes on without the locks
   */
  public @Nullable Object run(LockOperations locks) throws Throwable {
    List<LockRequest> requests = method.requests(call, locks);
    Deque<HeldLock> leases = new ArrayDeque<>(requests.size());
    List<Runnable> unguarded = new ArrayList<>(0);
    MissedLock missed;
    boolean works = false;
    try {
      missed = acquire(method, requests, leases, unguarded, LockRequest::joinOrAcquire);
      if (missed == null) {
        if (method.outlivesMethod()) {
          TransactionHold.begin(leases, method.where());
        }
        works = true;
        unguarded.forEach(Runnable::run);
        return method.watchesLoss() ? watched(leases) : work(leases);
      }
    } finally {
      method.release(leases, works);
    }
    return method.instead(missed, call);
  }

  /**
   * Acquires all locks, except those without which the call goes on. Returns the lock that was not
   * acquired if the call does something else instead; null if all are held.
   *
   * @param unguarded gets what tells of locks without which the work begins
   * @throws LockException.Lost if one was lost while another was waited for
   */
  static @Nullable MissedLock acquire(
      GuardedMethod method,
      List<LockRequest> requests,
      Deque<HeldLock> into,
      Collection<Runnable> unguarded,
      Function<LockRequest, HeldLock> how) {
    for (LockRequest each : requests) {
      try {
        HeldLock held = how.apply(each);
        into.push(held);
        method.acquired(held.lease());
      } catch (LockException failure) {
        Optional<MissedLock> missed = each.without(failure, unguarded);
        if (missed.isPresent()) {
          return missed.get();
        }
      }
    }
    LockException loss = HeldLock.lossBeforeWork(into);
    if (loss != null) {
      throw loss;
    }
    return null;
  }

  private @Nullable Object work(Iterable<HeldLock> leases) throws Throwable {
    if (method.isInjected()) {
      ((ProxyMethodInvocation) call).setArguments(method.arguments(call, leases));
    }
    Object result = proceed(leases);
    Optional<Class<?>> unfinished = result == null ? Optional.empty() : UnfinishedResult.in(result);
    if (unfinished.isPresent()) {
      throw new GuardedMethodException(
          method.where()
              + " cannot be guarded by a lock: "
              + UnguardableMethod.returning(unfinished.get()));
    }
    return result;
  }

  /** Runs the method. Calls in the course of it know these leases, and nothing does after it. */
  private @Nullable Object proceed(Iterable<HeldLock> leases) throws Throwable {
    LeaseScope before = LeaseScope.current();
    try {
      for (HeldLock held : leases) {
        LeaseScope.enter(held.outer());
      }
      return call.proceed();
    } finally {
      LeaseScope.restore(before);
    }
  }

  private @Nullable Object watched(Iterable<HeldLock> leases) throws Throwable {
    Object result = null;
    Throwable thrown = null;
    Interruption interruption = Interruption.begin();
    try {
      for (HeldLock held : leases) {
        if (held.request().guard().onLost() == OnLost.INTERRUPT) {
          held.lease().whenLost().thenRun(interruption::interrupt);
        }
      }
      result = work(leases);
    } catch (Error e) {
      throw e;
    } catch (Throwable e) {
      thrown = e;
    } finally {
      interruption.end();
    }
    LockException loss = HeldLock.loss(leases, thrown, method.where());
    if (loss != null) {
      throw loss;
    }
    if (thrown != null) {
      throw thrown;
    }
    return result;
  }
}
