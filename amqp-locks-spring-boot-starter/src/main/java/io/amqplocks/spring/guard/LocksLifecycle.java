package io.amqplocks.spring.guard;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.SemaphoreSetup;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Creates the known semaphores before any work starts, and closes the locks after all work has
 * stopped. "Work" is what starts in a later phase and so stops earlier: the web server and its
 * graceful shutdown, message listeners, executors, schedulers. Spring's connection factory stops
 * last of all, in {@link Integer#MIN_VALUE}.
 *
 * <p>A context that is only stopped or paused may be started again, which closed locks cannot; so
 * they are closed only when the context is.
 */
public final class LocksLifecycle
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

  /** Before all work, after the connection factory. */
  public static final int PHASE = Integer.MIN_VALUE + 1024;

  private final AmqpLocks locks;
  private final SemaphoreSetup setup;
  private final ApplicationContext context;
  private volatile boolean running;
  private volatile boolean closing;

  /** Starts and closes those locks with that context. */
  public LocksLifecycle(AmqpLocks locks, SemaphoreSetup setup, ApplicationContext context) {
    this.locks = locks;
    this.setup = setup;
    this.context = context;
  }

  @Override
  public void start() {
    setup.ensureAll();
    running = true;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    closing |= event.getApplicationContext().equals(context);
  }

  @Override
  public void stop() {
    running = false;
    if (closing) {
      locks.close();
    }
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
