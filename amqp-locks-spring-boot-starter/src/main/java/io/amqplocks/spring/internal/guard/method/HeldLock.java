package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.internal.nesting.OuterLease;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a call holds.
 *
 * @param request what the call requested
 * @param lease the lease that it acquired or joined
 * @param outer the same, for calls nested in its work
 * @param lent the same, for the work itself
 */
public record HeldLock(LockRequest request, Lease lease, OuterLease outer, LentLease lent) {

  HeldLock(LockRequest request, Lease lease, OuterLease outer) {
    this(request, lease, outer, new LentLease(lease));
  }

  /**
   * The failure to report instead of a result, because a lease was lost; null if none was lost. If
   * there is a result, this asks the broker.
   *
   * @param thrown what the work threw, if it did
   */
  public static @Nullable LockException loss(
      Iterable<HeldLock> all, @Nullable Throwable thrown, String where) {
    for (HeldLock held : all) {
      LockException loss =
          held.request.guard().onLost() == OnLost.NOTIFY ? null : held.loss(thrown, where);
      if (loss != null) {
        return loss;
      }
    }
    return null;
  }

  /**
   * The failure to report because a lock was lost while the call waited for another one, so that
   * the work must not begin. Null if no lock is known to be lost. Does not ask the broker. A call
   * with one lock may have waited for another one too, and gone on without it.
   */
  public static @Nullable LockException lossBeforeWork(Collection<HeldLock> all) {
    for (HeldLock held : all) {
      if (held.lease.state() == LeaseState.LOST) {
        return held.of(
            new LockException.Lost(
                "The %s was lost before the method began, while it waited for another lock: %s. Nothing was done; call it again"
                    .formatted(held.request.name(), held.reason()),
                null));
      }
    }
    return null;
  }

  /**
   * Gives all locks back, even if one of them fails.
   *
   * @param worked whether work began under them; else none of them is kept for a minimum time
   */
  static void close(Iterable<HeldLock> all, boolean worked) {
    Throwable failure = null;
    for (HeldLock held : all) {
      try {
        held.outer.close(worked);
      } catch (RuntimeException | Error e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }

  /**
   * Whether a lease in that state is not held to the end of its work. One that was released by
   * others, as by a shutdown that did not wait any longer, is as good as lost. The work itself may
   * close its lease.
   */
  public boolean isLost(LeaseState state) {
    return state == LeaseState.LOST || (state == LeaseState.RELEASED && !lent.isClosed());
  }

  /** Why a lease was lost. */
  public String reason() {
    return lease
        .lossReason()
        .map(LossReason::toString)
        .orElseGet(
            () ->
                lease.state() == LeaseState.RELEASED
                    ? "the locks were closed"
                    : "for no known reason");
  }

  private @Nullable LockException loss(@Nullable Throwable thrown, String where) {
    LeaseState state = lease.state();
    if (thrown == null && state != LeaseState.LOST) {
      state = lease.verify();
    }
    if (isLost(state)) {
      return of(
          new LockException.Lost(
              "The %s was lost while %s worked under it, and others may have worked too: %s. What it did is not undone"
                  .formatted(request.name(), where, reason()),
              thrown));
    }
    return state == LeaseState.UNCERTAIN && thrown == null
        ? of(
            new LockException.Unconfirmed(
                "The broker did not confirm the %s to the end of %s, so its result is withheld. What it did is not undone"
                    .formatted(request.name(), where)))
        : null;
  }

  private LockException of(LockException failure) {
    failure.initLock(request.handle().id());
    return failure;
  }
}
