package io.amqplocks.embedded;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.test.BrokerTest;

@BrokerTest(embedded = true)
class EmbeddedSlotSemaphoreTest extends EmbeddedLockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {
    locks.admin().slotSemaphore(name).create(1);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.slotSemaphore(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return !onlooker.admin().slotSemaphore(name).holders().isEmpty();
  }
}
