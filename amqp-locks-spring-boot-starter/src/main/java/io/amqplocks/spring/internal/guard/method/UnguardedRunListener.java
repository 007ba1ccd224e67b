package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockId;

/** Is notified of calls of guarded methods that run without a lock. */
@FunctionalInterface
public interface UnguardedRunListener {

  /** A call runs without that lock, because the broker is unavailable. Must not block or throw. */
  void ranWithout(LockId lock);
}
