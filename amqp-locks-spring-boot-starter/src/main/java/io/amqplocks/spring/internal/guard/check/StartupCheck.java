package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import org.springframework.context.SmartLifecycle;

/**
 * A look at what the guarded methods want, once at each start of the context, before the
 * application serves requests.
 */
abstract class StartupCheck implements SmartLifecycle {

  /** Before semaphores with known slots are created. */
  static final int BEFORE_CREATION = LocksLifecycle.PHASE - 1;

  /** After semaphores with known slots were created. */
  static final int AFTER_CREATION = LocksLifecycle.PHASE + 1;

  private final int phase;
  private volatile boolean running;

  StartupCheck(int phase) {
    this.phase = phase;
  }

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
    return phase;
  }
}
