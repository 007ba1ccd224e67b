package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Connects an idle application again after an outage. The next acquire would do so, but until then
 * its metric and its endpoint would say that there is no session, long after the broker is back. So
 * it does where the broker was away when the application started, and creates the semaphores that
 * could not be created then.
 *
 * <p>Keyed semaphores and mutexes are created at first use, so an application that names nothing
 * else has not asked for its broker when it has started. It is asked for once, in the background,
 * and one warning says that it is away.
 *
 * <p>An application that names no lock may never use one, so its broker is not asked for at the
 * start. If the first call fails, it is connected as soon as the broker is there.
 */
public final class Reconnection implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Reconnection.class);

  private final AmqpLocks locks;
  private final SemaphoreSetup setup;
  private final LockCatalog catalog;
  private final FailedCalls failed;
  private final Duration period;
  private volatile boolean wasAway;
  private @Nullable ScheduledExecutorService thread;

  /**
   * Looks after those locks, so often.
   *
   * @param catalog whether the application names any
   * @param failed whether it has tried to use one in vain
   */
  public Reconnection(
      AmqpLocks locks,
      SemaphoreSetup setup,
      LockCatalog catalog,
      FailedCalls failed,
      Duration period) {
    this.locks = locks;
    this.setup = setup;
    this.catalog = catalog;
    this.failed = failed;
    this.period = period;
  }

  private void lookFirst() {
    if (locks.status().session() != Session.NOT_OPENED
        || setup.isUnfinished() // which was a warning
        || catalog.locks().isEmpty()) {
      return;
    }
    try {
      locks.connect();
    } catch (LockException.Closed | LockException.Interrupted e) {
      log.debug("Not connected before the end: {}", e.getMessage());
    } catch (LockException e) {
      wasAway = true;
      log.warn(
          "The application has started without the broker of its locks. Calls that need a lock wait for"
              + " the broker or fail, until it is found; it is tried again every {}: {}",
          period,
          e.getMessage());
    }
  }

  private void look() {
    try {
      Session session = locks.status().session();
      boolean awaited = wasAway || setup.isUnfinished() || failed.any();
      if (session == Session.ENDED || (session == Session.NOT_OPENED && awaited)) {
        locks.connect();
      }
      if (setup.isUnfinished() && locks.status().session() == Session.OPEN) {
        setup.ensureAll();
      }
    } catch (LockException e) {
      log.debug("Not connected again yet: {}", e.getMessage());
    } catch (RuntimeException e) {
      // An exception would end all later looks.
      log.warn("The locks cannot be connected again", e);
    }
  }

  @Override
  public synchronized void start() {
    if (thread == null) {
      ScheduledExecutorService started =
          new ScheduledThreadPoolExecutor(1, Reconnection::newThread);
      started.execute(this::lookFirst);
      var unused =
          started.scheduleWithFixedDelay(
              this::look, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
      thread = started;
    }
  }

  private static Thread newThread(Runnable work) {
    Thread thread = new Thread(work, "amqp-locks reconnection");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public synchronized void stop() {
    if (thread != null) {
      thread.shutdownNow();
      thread = null;
    }
  }

  @Override
  public synchronized boolean isRunning() {
    return thread != null;
  }

  /** After semaphores were created and looked for, so that an outage is not said twice. */
  @Override
  public int getPhase() {
    return LocksLifecycle.PHASE + 2;
  }
}
