package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.OnLost;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** A call of a method that works until it returns. */
final class SynchronousCall {

  private final GuardedMethod method;
  private final MethodInvocation call;

  SynchronousCall(GuardedMethod method, MethodInvocation call) {
    this.method = method;
    this.call = call;
  }

  /**
   * Acquires the locks, runs the method, and gives them back however it ends.
   *
   * @throws IllegalStateException if it returns what it did not say that it returns: something
   *     whose work goes on without the locks
   */
  @Nullable Object run(LockOperations locks) throws Throwable {
    List<LockRequest> requests = method.requests(call, locks);
    Deque<HeldLock> leases = new ArrayDeque<>(requests.size());
    MissedLock missed;
    boolean works = false;
    try {
      missed = acquire(method, requests, leases);
      if (missed == null) {
        works = true;
        return method.watchesLoss() ? watched(leases) : work(leases);
      }
    } finally {
      method.release(leases, works);
    }
    return method.instead(missed, call);
  }

  /**
   * All of them but those that the call goes on without, or else the one that could not be had where
   * the call is not to hear of that.
   *
   * @throws LockException.Lost if one was lost while another was waited for
   */
  static @Nullable MissedLock acquire(
      GuardedMethod method, List<LockRequest> requests, Deque<HeldLock> into) {
    for (LockRequest each : requests) {
      try {
        Lease lease = each.acquire();
        into.push(new HeldLock(each, lease));
        method.acquired(lease);
      } catch (LockException failure) {
        Optional<MissedLock> missed = each.without(failure);
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
    Object result = call.proceed();
    if (result != null && UnfinishedResult.is(result.getClass())) {
      throw new GuardedMethodException(
          method.where()
              + " cannot be guarded by a lock: "
              + UnguardableMethod.returning(result.getClass()));
    }
    return result;
  }

  private @Nullable Object watched(Iterable<HeldLock> leases) throws Throwable {
    Interruption interruption = new Interruption();
    for (HeldLock held : leases) {
      if (held.request().guard().onLost() == OnLost.INTERRUPT) {
        held.lease().whenLost().thenRun(interruption::interrupt);
      }
    }
    Object result = null;
    Throwable thrown = null;
    try {
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
