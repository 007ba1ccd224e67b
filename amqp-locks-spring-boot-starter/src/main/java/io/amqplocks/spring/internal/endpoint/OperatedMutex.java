package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Set;

/**
 * A mutex that does not have to be created. It has one holder: if that was a lease of this process,
 * nothing is left to do, and the present holder of the mutex is a new one.
 */
final class OperatedMutex extends OperatedLock {

  private final MutexAdmin mutex;

  OperatedMutex(AmqpLocks locks, LockId id, MutexAdmin mutex) {
    super(locks, id);
    this.mutex = mutex;
  }

  @Override
  BrokerDescriptor describe() {
    return BrokerDescriptor.mutex(null, mutex.isHeld());
  }

  @Override
  Done release(String why, Duration timeout) {
    int revoked = revoke(why);
    if (revoked > 0 || !mutex.isHeld()) {
      return released(revoked, 0, null);
    }
    throw onlyByItsOwner(Set.of(1));
  }
}
