package io.amqplocks.internal.lease;

import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a lease may be held, by the client's own clock.
 *
 * <p>Concurrency: an alarm ends the lease on time, and every look at its state ends it too. After a
 * pause of the process, the holder may look before the alarm's thread runs. Both end the lease by
 * the same compare-and-set, so it ends once.
 *
 * <p>The alarm's thread never waits. To end a lease takes no request to the broker and none of the
 * user's code: the slot is given back, and listeners are notified, on other threads.
 *
 * <p>No alarm outlives its lease. The thread that sets the alarm publishes it and then looks
 * whether the lease has ended. The thread that ends the lease records that and then looks for the
 * alarm. So at least one of the two cancels it.
 */
final class HoldLimit {

  private static final Logger log = LoggerFactory.getLogger(HoldLimit.class);

  private final Duration longest;
  private final LeaseClock clock;
  private volatile @Nullable Future<?> alarm;

  HoldLimit(Duration longest, LeaseClock clock) {
    this.longest = longest;
    this.clock = clock;
  }

  /** Has that done when the limit is reached. It must not block. */
  void set(ScheduledExecutorService timer, Runnable reached) {
    // Saturates, so that a limit of centuries is none.
    long left = TimeUnit.NANOSECONDS.convert(longest.minus(clock.age()));
    try {
      alarm = timer.schedule(reached, left, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed. That ends all leases, and no limit is reached any more.
    } catch (OutOfMemoryError e) {
      // No thread can be started, now at least. Whoever looks at the lease, as each verification
      // does, finds that the limit is reached.
      log.warn("A lease may end later than its limit of {}, for want of a thread", longest, e);
    }
  }

  void cancel() {
    Future<?> due = alarm;
    if (due != null) {
      due.cancel(false);
    }
  }

  /** Whether a lease that has not ended has been held for long enough. */
  boolean isReached() {
    return clock.age().compareTo(longest) >= 0;
  }

  LossReason loss() {
    return new LossReason(
        Cause.HOLD_LIMIT, "held for %s, the longest that it may".formatted(longest));
  }
}
