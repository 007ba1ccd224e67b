package io.amqplocks.embedded;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.test.BrokerTest;

@BrokerTest(embedded = true)
class EmbeddedMutexTest extends EmbeddedLockContract {

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.mutex(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().mutex(name).isHeld();
  }
}
