package io.amqplocks.spring.internal.async;

import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
        Future<?> release = BackgroundExecutor.runAfter(left, lease::close);
        // A lease that is gone, by an outage or with its application, must not be kept in memory.
        var unused = lease.whenLost().thenRun(() -> release.cancel(false));
      }
    }
  }

  @Override
  public String toString() {
    return lease + ", kept for " + atLeast;
  }
}
