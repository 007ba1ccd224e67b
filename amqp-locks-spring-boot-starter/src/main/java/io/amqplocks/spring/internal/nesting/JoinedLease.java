package io.amqplocks.spring.internal.nesting;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.internal.async.ForwardingLease;
import io.amqplocks.spring.internal.nesting.LossWatch.Watcher;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The lease of an outer call, as a nested call has it. To close it does nothing, since it is not
 * the nested call's to give back.
 *
 * <p>Concurrency: the first to leave leaves for all. The first to ask for the loss makes the future
 * that all see. It is forgotten when somebody leaves, or asks after that.
 */
public final class JoinedLease extends ForwardingLease {

  private final OuterLease outer;
  private final int lent;
  private final Duration keep;
  private final AtomicBoolean left = new AtomicBoolean();
  private final AtomicReference<@Nullable Watcher> watcher = new AtomicReference<>();

  /**
   * Joins that lease of that call.
   *
   * @param lent how many of its permits are to be given back at the end
   * @param holdAtLeast how long the lease is to be held from now on at least
   */
  JoinedLease(OuterLease outer, Lease lease, int lent, Duration holdAtLeast) {
    super(lease);
    this.outer = outer;
    this.lent = lent;
    keep = holdAtLeast.isZero() ? Duration.ZERO : lease.age().plus(holdAtLeast);
  }

  OuterLease outer() {
    return outer;
  }

  /** The age of the lease until which this call has it held; zero if it has no minimum. */
  Duration keptUntil() {
    return keep;
  }

  /**
   * The nested call has ended.
   *
   * @param worked whether its work began
   */
  void leave(boolean worked) {
    leave(worked, Duration.ZERO);
  }

  void leave(boolean worked, Duration nested) {
    if (left.compareAndSet(false, true)) {
      Watcher watching = watcher.get();
      if (watching != null) {
        watching.leave();
      }
      Duration own = worked ? keep : Duration.ZERO;
      outer.left(lent, own.compareTo(nested) >= 0 ? own : nested);
    }
  }

  @Override
  public void close() {
    // Not its own.
  }

  @Override
  public CompletionStage<LossReason> whenLost() {
    Watcher mine = watcher.get();
    if (mine == null) {
      Watcher made = outer.losses().watch();
      mine = watcher.compareAndSet(null, made) ? made : requireNonNull(watcher.get());
      if (left.get() || !mine.equals(made)) {
        made.leave();
      }
    }
    return mine.told();
  }

  @Override
  public String toString() {
    return lease + ", joined";
  }
}
