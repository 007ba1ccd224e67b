package io.amqplocks.spring.internal.nesting;

import io.amqplocks.lock.Lease;
import io.amqplocks.spring.internal.async.ThrowingSupplier;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The leases of the calls that the present one is part of, the innermost first.
 *
 * <p>Concurrency: immutable. Each thread knows its own, from the beginning of a call's work to its
 * end, and then has again what it had before. Work on other threads only gets {@link
 * #ofStages}, so nobody joins a lease that is confined to another thread.
 */
public final class LeaseScope {

  private static final ThreadLocal<@Nullable LeaseScope> CURRENT = new ThreadLocal<>();

  /** The leases of this thread's transactions, which outlast the calls that acquired the leases. */
  private static final ThreadLocal<@Nullable LeaseScope> TRANSACTIONS = new ThreadLocal<>();

  private final OuterLease lease;
  private final @Nullable LeaseScope around;

  private LeaseScope(OuterLease lease, @Nullable LeaseScope around) {
    this.lease = lease;
    this.around = around;
  }

  /** The scope of this thread; null if it is part of no call that holds a lock. */
  public static @Nullable LeaseScope current() {
    return CURRENT.get();
  }

  /** Work under the lease begins on this thread. It ends by {@link #restore}. */
  public static void enter(OuterLease lease) {
    if (!lease.isSameAsOuter()) {
      CURRENT.set(new LeaseScope(lease, CURRENT.get()));
    }
  }

  /** Gives this thread back what {@link #current} was before. */
  public static void restore(@Nullable LeaseScope before) {
    if (before == null) {
      CURRENT.remove(); // leaves nothing behind in a thread of a pool
    } else {
      CURRENT.set(before);
    }
  }

  /** Runs the step on this thread as a part of those calls, and of no others. */
  public static <T extends @Nullable Object> T call(
      @Nullable LeaseScope scope, ThrowingSupplier<T> step) throws Throwable {
    LeaseScope before = current();
    restore(scope);
    try {
      return step.get();
    } finally {
      restore(before);
    }
  }

  /** A scope with the lease as the innermost. */
  public static LeaseScope with(OuterLease lease, @Nullable LeaseScope around) {
    return new LeaseScope(lease, around);
  }

  /** The scope without the leases that are confined to a thread. */
  public static @Nullable LeaseScope ofStages(@Nullable LeaseScope scope) {
    if (scope == null) {
      return null;
    }
    LeaseScope around = ofStages(scope.around);
    if (scope.lease.isConfinedToThread()) {
      return around;
    }
    return scope.around == null ? scope : new LeaseScope(scope.lease, around);
  }

  /**
   * Joins the lease of a call that this thread's is part of.
   *
   * @return null if none has the lock
   * @throws io.amqplocks.lock.LockException as {@link OuterLease#join} does
   */
  public static @Nullable JoinedLease join(LeaseRequest request, Duration wait) {
    JoinedLease joined = join(current(), request, wait);
    return joined == null ? join(TRANSACTIONS.get(), request, wait) : joined;
  }

  /**
   * Joins the lease of one of those calls; waits on this thread.
   *
   * @return null if none has the lock
   * @throws io.amqplocks.lock.LockException as {@link OuterLease#join} does
   */
  public static @Nullable JoinedLease join(
      @Nullable LeaseScope scope, LeaseRequest request, Duration wait) {
    for (LeaseScope each = scope; each != null; each = each.around) {
      if (each.lease.concerns(request.lock())) {
        return each.lease.isReleased() ? null : each.lease.join(request, wait);
      }
    }
    return null;
  }

  /** A transaction of this thread holds the lease from now on. It ends by {@link #letGo}. */
  public static void hold(OuterLease lease) {
    if (lease.retain()) {
      TRANSACTIONS.set(new LeaseScope(lease, without(lease, TRANSACTIONS.get())));
    }
  }

  /** The transaction that held the lease has completed. */
  public static void letGo(OuterLease lease) {
    LeaseScope left = without(lease, TRANSACTIONS.get());
    if (left == null) {
      TRANSACTIONS.remove();
    } else {
      TRANSACTIONS.set(left);
    }
    lease.close(true);
  }

  /** The scope without the lease, and without leases that were given back since. */
  private static @Nullable LeaseScope without(OuterLease lease, @Nullable LeaseScope scope) {
    if (scope == null) {
      return null;
    }
    LeaseScope around = without(lease, scope.around);
    return scope.lease.equals(lease) || scope.lease.isReleased()
        ? around
        : new LeaseScope(scope.lease, around);
  }

  /**
   * Joins the lease of one of those calls, without a thread that waits.
   *
   * @return null if none has the lock
   */
  public static @Nullable CompletableFuture<Lease> joinAsync(
      @Nullable LeaseScope scope, LeaseRequest request, Duration wait) {
    for (LeaseScope each = scope; each != null; each = each.around) {
      if (each.lease.concerns(request.lock()) && !each.lease.isConfinedToThread()) {
        return each.lease.isReleased() ? null : each.lease.joinAsync(request, wait);
      }
    }
    return null;
  }

  /** Whether this thread is part of a call that holds the lock and that others cannot join. */
  public static boolean isHeldByThread(LeaseRequest request) {
    return isHeldByThread(current(), request) || isHeldByThread(TRANSACTIONS.get(), request);
  }

  private static boolean isHeldByThread(@Nullable LeaseScope scope, LeaseRequest request) {
    for (LeaseScope each = scope; each != null; each = each.around) {
      if (each.lease.concerns(request.lock())) {
        return each.lease.isConfinedToThread() && !each.lease.isReleased();
      }
    }
    return false;
  }
}
