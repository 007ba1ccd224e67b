package io.amqplocks.spring.internal.async;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A lease that is kept for a minimum time. If it is closed earlier, it is released when that time
 * is over; the close does not wait. Until then it is held and verified like any lease.
 *
 * <p>Concurrency: the first close decides when it is released.
 */
public final class MinimumHold extends ForwardingLease {

  /** What is kept by now, and what is to release it. */
  private static final Map<MinimumHold, Future<?>> KEPT = new ConcurrentHashMap<>();

  private final Duration atLeast;
  private final AtomicBoolean closed = new AtomicBoolean();

  private MinimumHold(Lease lease, Duration atLeast) {
    super(lease);
    this.atLeast = atLeast;
  }

  /** The lease, kept for a minimum time. */
  public static Lease of(Lease lease, Duration atLeast) {
    return atLeast.isZero() ? lease : new MinimumHold(lease, atLeast);
  }

  /** The future's lease, kept for a minimum time. Cancelling the result cancels the future. */
  public static CompletableFuture<Lease> of(CompletableFuture<Lease> acquired, Duration atLeast) {
    if (atLeast.isZero()) {
      return acquired;
    }
    CompletableFuture<Lease> result = new CompletableFuture<>();
    var unused = acquired.whenComplete((lease, failure) -> pass(lease, failure, atLeast, result));
    var unusedToo = result.whenComplete((lease, failure) -> acquired.cancel(true));
    return result;
  }

  private static void pass(
      @Nullable Lease lease,
      @Nullable Throwable failure,
      Duration atLeast,
      CompletableFuture<Lease> result) {
    if (lease == null) {
      result.completeExceptionally(
          failure == null ? new IllegalStateException("No lease") : AsyncCall.unwrapped(failure));
    } else if (!result.complete(of(lease, atLeast))) {
      BackgroundExecutor.run(lease::close);
    }
  }

  /** The lease as the core knows it. */
  public static Lease unwrapped(Lease lease) {
    return lease instanceof MinimumHold kept ? kept.lease : lease;
  }

  /** Whether that lease is only kept for its minimum time: who had it has closed it. */
  public static boolean isClosed(Lease lease) {
    return lease instanceof MinimumHold kept && kept.closed.get();
  }

  /** Releases that lease now, since no work was begun under it. */
  public static void closeNow(Lease lease) {
    if (!(lease instanceof MinimumHold kept)) {
      lease.close();
    } else if (kept.closed.compareAndSet(false, true)) {
      kept.lease.close();
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Duration left = atLeast.minus(lease.age());
      if (left.isNegative() || left.isZero()) {
        lease.close();
      } else {
        keep(left);
      }
    }
  }

  private void keep(Duration time) {
    Future<?> release = BackgroundExecutor.runAfter(time, this::release);
    KEPT.put(this, release);
    if (release.isDone() || lease.state() == LeaseState.RELEASED) {
      KEPT.remove(this);
    }
    // A lease that is gone must not be kept in memory.
    var unused = lease.whenLost().thenRun(this::forget);
  }

  private void release() {
    KEPT.remove(this);
    lease.close();
  }

  private void forget() {
    Future<?> release = KEPT.remove(this);
    if (release != null) {
      release.cancel(false);
    }
  }

  /**
   * Keeps what has ended no longer in memory. To be called when an application has closed its
   * locks, which ends its leases without a loss.
   */
  public static void forgetEnded() {
    KEPT.keySet().stream()
        .filter(kept -> kept.lease.state() == LeaseState.RELEASED)
        .forEach(MinimumHold::forget);
  }

  @Override
  public String toString() {
    return lease + ", kept for " + atLeast;
  }
}
