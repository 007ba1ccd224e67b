package io.amqplocks.shedlock;

import io.amqplocks.lock.Lease;
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
   * Begins to watch a lease. It is not released by this call, also if its time is over. If this is
   * closed, the lease is not released at {@code lockAtMostFor}, as one that was watched before the
   * close. To refuse the lock would be worse: its marker is there by now, and keeps it from all.
   */
  void watch(ExpiringLease expiring, Lease lease) {
    try {
      lookIn(expiring.left(), expiring, lease);
    } catch (RejectedExecutionException e) {
      log.debug("Closed; {} is not released at lockAtMostFor", lease.lock());
    }
  }

  private void lookIn(long left, ExpiringLease expiring, Lease lease) {
    // Not all its time: an extension may have made that shorter, and a lock that was unlocked must
    // not keep its timer for long.
    long delay = Math.min(left, TimeUnit.SECONDS.toNanos(1));
    ScheduledFuture<?> unused =
        timer.schedule(() -> look(expiring, lease), delay, TimeUnit.NANOSECONDS);
  }

  private void look(ExpiringLease expiring, Lease lease) {
    long left = expiring.expire();
    if (left > 0) {
      lookIn(left, expiring, lease);
    } else if (left == 0) {
      log.warn("{} was held for all of lockAtMostFor and is released", lease.lock());
    }
  }

  void close() {
    timer.shutdown();
  }
}
