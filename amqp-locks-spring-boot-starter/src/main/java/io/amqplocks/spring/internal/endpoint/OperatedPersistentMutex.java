package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * A persistent mutex: it is taken from a holder elsewhere by disabling it, and then enabled again.
 */
final class OperatedPersistentMutex extends OperatedLock {

  private final PersistentMutexAdmin mutex;

  OperatedPersistentMutex(AmqpLocks locks, LockId id, PersistentMutexAdmin mutex) {
    super(locks, id);
    this.mutex = mutex;
  }

  @Override
  BrokerDescriptor describe() {
    boolean enabled = mutex.isEnabled();
    return BrokerDescriptor.mutex(enabled, enabled && mutex.isHeld());
  }

  @Override
  Done enable(boolean enabled) {
    if (enabled) {
      mutex.enable();
      return new Done("enabled", null);
    }
    mutex.disable();
    return new Done("disabled", "Whoever held it is told of the loss.");
  }

  @Override
  Done release(String why, Duration timeout) {
    int revoked = revoke(why);
    if (revoked > 0 || !mutex.isHeld()) {
      return released(revoked, 0, null);
    }
    mutex.disable();
    PartialChangeException.unless(
        "It is disabled now: enable it.",
        () -> {
          mutex.enable();
          return true;
        });
    return released(0, 1, "The holder is told of the loss. Calls that waited failed as NotFound.");
  }
}
