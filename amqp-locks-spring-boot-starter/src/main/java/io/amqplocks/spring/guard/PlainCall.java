package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OnLost;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** A call of a method that works until it returns. */
final class PlainCall {

  private final GuardedMethod method;
  private final MethodInvocation call;

  PlainCall(GuardedMethod method, MethodInvocation call) {
    this.method = method;
    this.call = call;
  }

  /**
   * Acquires the locks, runs the method, and gives them back however it ends.
   *
   * @throws IllegalStateException if it returns what it did not say that it returns: something
   *     whose work goes on without the locks
   */
  @Nullable Object run(LockTemplate locks) throws Throwable {
    List<Wanted> wanted = method.wanted(call, locks);
    Deque<Held> leases = new ArrayDeque<>(wanted.size());
    Missed missed;
    try {
      missed = acquire(wanted, leases);
      if (missed == null) {
        return method.watchesLoss() ? watched(leases) : work(leases);
      }
    } finally {
      Held.close(leases);
    }
    return method.instead(missed, call);
  }

  /**
   * All of them, or the one that could not be had where the call is not to hear of that.
   *
   * @throws LockException.Lost if one was lost while another was waited for
   */
  static @Nullable Missed acquire(List<Wanted> wanted, Deque<Held> into) {
    for (Wanted each : wanted) {
      try {
        into.push(new Held(each, each.acquire()));
      } catch (LockException.AcquireTimeout busy) {
        if (each.guard().throwsWhenBusy()) {
          throw busy;
        }
        return new Missed(each, busy);
      }
    }
    LockException loss = Held.lossBeforeWork(into);
    if (loss != null) {
      throw loss;
    }
    return null;
  }

  private @Nullable Object work(Iterable<Held> leases) throws Throwable {
    if (method.isInjected()) {
      ((ProxyMethodInvocation) call).setArguments(method.arguments(call, leases));
    }
    Object result = call.proceed();
    if (result != null && LaterWork.is(result.getClass())) {
      throw new GuardedMethodException(
          method.where()
              + " cannot be guarded by a lock: "
              + UnguardableMethod.returning(result.getClass()));
    }
    return result;
  }

  private @Nullable Object watched(Iterable<Held> leases) throws Throwable {
    Interruption interruption = new Interruption();
    for (Held held : leases) {
      if (held.wanted().guard().onLost() == OnLost.INTERRUPT) {
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
    LockException loss = Held.loss(leases, thrown, method.where());
    if (loss != null) {
      throw loss;
    }
    if (thrown != null) {
      throw thrown;
    }
    return result;
  }
}
