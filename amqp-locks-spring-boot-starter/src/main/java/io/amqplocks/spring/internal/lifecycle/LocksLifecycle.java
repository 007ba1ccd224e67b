package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.internal.async.MinimumHold;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Creates the known semaphores before any work starts, and closes the locks after all work has
 * stopped. "Work" is what starts in a later phase and so stops earlier: the web server and its
 * graceful shutdown, message listeners, executors, schedulers. Spring's connection factory stops
 * last of all, in {@link Integer#MIN_VALUE}.
 *
 * <p>Work that Spring does not stop, such as a thread of the application's own, may still hold
 * leases then, and leases may be kept for a minimum time ({@code holdAtLeast}). New ones are
 * refused, and those in hand have a while to be given back before they are released.
 *
 * <p>A context that is only stopped or paused may be started again, which closed locks cannot; so
 * they are closed only when the context is.
 */
public final class LocksLifecycle
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(LocksLifecycle.class);

  /** Before all work, after the connection factory. */
  public static final int PHASE = Integer.MIN_VALUE + 1024;

  private final AmqpLocks locks;
  private final SemaphoreSetup setup;
  private final ApplicationContext context;
  private final Duration timeout;
  private volatile boolean running;
  private volatile boolean closing;

  /**
   * Starts and closes those locks with that context.
   *
   * @param timeout how long to wait at the end for leases to be given back
   */
  public LocksLifecycle(
      AmqpLocks locks, SemaphoreSetup setup, ApplicationContext context, Duration timeout) {
    this.locks = locks;
    this.setup = setup;
    this.context = context;
    this.timeout = timeout;
  }

  @Override
  public void start() {
    setup.ensureAll();
    running = true;
  }

  /** An event multicaster with an executor would call it when all is stopped already. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    closing |= event.getApplicationContext().equals(context);
  }

  @Override
  public void stop() {
    running = false;
    if (isClosing()) {
      close();
    }
  }

  /** If the context was stopped before it is closed, {@link #stop} was not called again. */
  @Override
  public void destroy() {
    if (isClosing()) {
      close();
    }
  }

  private boolean isClosing() {
    return closing || isBeingClosed(context);
  }

  /**
   * Whether the context is being closed, and not only stopped. The event says so too, but if a
   * listener throws, those after it do not get the event.
   */
  public static boolean isBeingClosed(ApplicationContext context) {
    return context instanceof ConfigurableApplicationContext own && own.isClosed();
  }

  private void close() {
    int held = locks.status().held();
    if (held > 0 && timeout.compareTo(Duration.ZERO) > 0) {
      log.info(
          "Waiting up to {} (amqp-locks.shutdown-timeout) for {} leases to be given back",
          timeout,
          held);
    }
    locks.close(timeout);
    MinimumHold.forgetEnded();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
