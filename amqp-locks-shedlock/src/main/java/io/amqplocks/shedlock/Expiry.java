package io.amqplocks.shedlock;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases leases when their time is over. One thread does: it looks when a time may be over, and
 * again later if that was extended meanwhile. What is decided is decided in {@link ExpiringLease}.
 */
final class Expiry {

  private static final Logger log = LoggerFactory.getLogger(AmqpLockProvider.class);

  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "amqp-locks-shedlock-expiry");
            thread.setDaemon(true);
            return thread;
          });

  Expiry() {
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Begins to watch a lease.
   *
   * @throws LockException.Closed if this is closed; the lease is not released then
   */
  ExpiringLease expireAfter(Lease lease, long began, Duration time) {
    ExpiringLease expiring = new ExpiringLease(lease, began, time);
    try {
      look(expiring, lease);
    } catch (RejectedExecutionException e) {
      throw new LockException.Closed("The AmqpLockProvider was closed");
    }
    return expiring;
  }

  private void look(ExpiringLease expiring, Lease lease) {
    long left = expiring.expire();
    if (left > 0) {
      // A lock that was unlocked keeps its timer for a minute at most, not for all its time.
      long delay = Math.min(left, TimeUnit.MINUTES.toNanos(1));
      ScheduledFuture<?> unused =
          timer.schedule(() -> look(expiring, lease), delay, TimeUnit.NANOSECONDS);
    } else if (left == 0) {
      log.warn("{} was held for all of lockAtMostFor and is released", lease.lock());
    }
  }

  void close() {
    timer.shutdown();
  }
}
