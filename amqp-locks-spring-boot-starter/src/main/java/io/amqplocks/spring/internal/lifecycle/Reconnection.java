package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
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
 */
public final class Reconnection implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Reconnection.class);

  private final AmqpLocks locks;
  private final SemaphoreSetup setup;
  private final Duration period;
  private @Nullable ScheduledExecutorService thread;

  /** Looks after those locks, so often. */
  public Reconnection(AmqpLocks locks, SemaphoreSetup setup, Duration period) {
    this.locks = locks;
    this.setup = setup;
    this.period = period;
  }

  private void look() {
    try {
      Session session = locks.status().session();
      if (session == Session.ENDED || (session == Session.NOT_OPENED && setup.isUnfinished())) {
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

  @Override
  public int getPhase() {
    return LocksLifecycle.PHASE;
  }
}
