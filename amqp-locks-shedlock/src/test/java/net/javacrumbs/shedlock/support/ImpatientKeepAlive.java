package net.javacrumbs.shedlock.support;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;

/**
 * Reaches the constructor that ShedLock's own tests use: others wait for half a minute at least.
 */
public final class ImpatientKeepAlive {

  private ImpatientKeepAlive() {}

  public static LockProvider of(ExtensibleLockProvider wrapped, ScheduledExecutorService timer) {
    return new KeepAliveLockProvider(wrapped, timer, Duration.ofMillis(100));
  }
}
