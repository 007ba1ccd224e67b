package io.amqplocks.slots;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.support.LockContract;
import io.amqplocks.test.BrokerTest;

/** A semaphore of one slot does what a mutex does. */
@BrokerTest(everyLine = true)
class SlotSemaphoreOfOneTest extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {
    fixture.create(locks, name, 1);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.slotSemaphore(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return !fixture.open().admin().slotSemaphore(name).holders().isEmpty();
  }
}
