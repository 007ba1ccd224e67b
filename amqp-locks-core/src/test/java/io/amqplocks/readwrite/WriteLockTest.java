package io.amqplocks.readwrite;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockName;
import io.amqplocks.mutex.MutexContract;
import io.amqplocks.test.BrokerTest;

/** Without readers, a write lock is a mutex. */
@BrokerTest(everyLine = true)
class WriteLockTest extends MutexContract {

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.readWriteLock(name).writeLock();
  }

  @Override
  protected boolean isHeld(String name) {
    return fixture.open().admin().readWriteLock(name).holders() > 0;
  }

  /** The gate is left a moment after the lock is free. */
  @Override
  protected void isFree(String name) throws Exception {
    super.isFree(name);
    fixture.awaitConsumers(fixture.names().readWriteGate(LockName.of(name)), 0);
  }

  @Override
  protected String queue(String name) {
    return fixture.names().readWrite(LockName.of(name));
  }
}
