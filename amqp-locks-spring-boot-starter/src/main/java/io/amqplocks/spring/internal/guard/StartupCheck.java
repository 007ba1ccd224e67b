package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import org.springframework.context.SmartLifecycle;

/**
 * A look at what the guarded methods want, once at each start of the context. It comes after the
 * semaphores with known slots were created, and before the application serves requests.
 */
abstract class StartupCheck implements SmartLifecycle {

  private volatile boolean running;

  /** Throws if the application must not start. */
  abstract void check();

  @Override
  public final void start() {
    check();
    running = true;
  }

  @Override
  public final void stop() {
    running = false;
  }

  @Override
  public final boolean isRunning() {
    return running;
  }

  @Override
  public final int getPhase() {
    return LocksLifecycle.PHASE + 1;
  }
}
