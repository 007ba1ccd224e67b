package io.amqplocks;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.test.BrokerTest;

/** A semaphore of one slot does what a mutex does. */
@BrokerTest(everyLine = true)
class SemaphoreOfOneTest extends LockContract {

  @Override
  void make(AmqpLocks locks, String name) {
    fixture.create(locks, name, 1);
  }

  @Override
  AmqpLock lock(AmqpLocks locks, String name) {
    return locks.semaphore(name);
  }

  @Override
  boolean isHeld(String name) {
    return !fixture.open().admin().semaphore(name).holders().isEmpty();
  }
}
