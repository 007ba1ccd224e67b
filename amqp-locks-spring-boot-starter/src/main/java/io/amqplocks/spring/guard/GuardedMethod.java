package io.amqplocks.spring.guard;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * All that there is to know of a guarded method, read and checked once.
 *
 * <p>Concurrency: immutable but for the locks that all calls have in common, where no key makes them
 * differ; two threads may both find them at first, which are equal.
 */
final class GuardedMethod {

  /** Of two that are one lock the fenced one stays: its lease has all that is asked of either. */
  private static final Comparator<Wanted> ORDER =
      Wanted.ORDER.thenComparing(wanted -> !wanted.guard().fenced());

  private final String where;
  private final List<Guard> guards;
  private final Work work;
  private final Injection injection;
  private final int injected;
  private final @Nullable Object nothing;
  private final boolean keyed;
  private final boolean watchesLoss;
  private volatile @Nullable List<Wanted> always;

  /**
   * A method.
   *
   * @param where the method, as messages call it
   * @param guards what it wants, in any order
   * @param work until when it works
   * @param injection the parameters that are filled in
   * @param injected which of the guards fills them in
   * @param nothing what a skipped call returns
   */
  GuardedMethod(
      String where,
      List<Guard> guards,
      Work work,
      Injection injection,
      int injected,
      @Nullable Object nothing) {
    this.where = where;
    this.guards = List.copyOf(guards);
    this.work = work;
    this.injection = injection;
    this.injected = injected;
    this.nothing = nothing;
    keyed = guards.stream().anyMatch(guard -> guard.key() != null);
    watchesLoss = guards.stream().anyMatch(guard -> guard.onLost() != OnLost.NOTIFY);
  }

  String where() {
    return where;
  }

  Work work() {
    return work;
  }

  List<Guard> guards() {
    return guards;
  }

  /** Whether a loss has consequences for its calls. */
  boolean watchesLoss() {
    return watchesLoss;
  }

  /**
   * What that call wants, in the order to acquire it.
   *
   * @throws LockException.Invalid if it has no key
   */
  List<Wanted> wanted(MethodInvocation call, LockTemplate locks) {
    if (keyed) {
      return inOrder(guards.stream().map(guard -> guard.by(call, locks)).toList());
    }
    List<Wanted> found = always;
    if (found == null) {
      found = inOrder(guards.stream().map(guard -> guard.by(locks)).toList());
      always = found;
    }
    return found;
  }

  private static List<Wanted> inOrder(List<Wanted> any) {
    if (any.size() == 1) {
      return any;
    }
    List<Wanted> result = new ArrayList<>(any.size());
    any.stream()
        .sorted(ORDER)
        .filter(wanted -> result.isEmpty() || !result.get(result.size() - 1).isSameLock(wanted))
        .forEachOrdered(result::add);
    return List.copyOf(result);
  }

  /** The arguments to run with. */
  @Nullable Object[] arguments(MethodInvocation call, Iterable<Held> leases) {
    if (injection.isNone()) {
      return call.getArguments();
    }
    Guard from = guards.get(injected);
    for (Held held : leases) {
      if (held.wanted().guard().equals(from)) {
        return injection.into(call.getArguments(), held.lease());
      }
    }
    throw new IllegalStateException("No lease of " + from + " for " + where);
  }

  boolean isInjected() {
    return !injection.isNone();
  }

  /** What the call does that did not get its locks, and that is not to hear of it. */
  @Nullable Object instead(Missed missed, MethodInvocation call) throws Throwable {
    Guard guard = missed.wanted().guard();
    return guard.onBusy() == OnBusy.SKIP
        ? nothing
        : requireNonNull(guard.fallback()).call(call.getThis(), call.getArguments(), missed.busy());
  }
}
