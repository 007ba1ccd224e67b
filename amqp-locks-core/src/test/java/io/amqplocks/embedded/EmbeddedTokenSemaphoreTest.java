package io.amqplocks.embedded;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.test.BrokerTest;

@BrokerTest(embedded = true)
class EmbeddedTokenSemaphoreTest extends EmbeddedLockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {
    locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.tokenSemaphore(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().tokenSemaphore(name).status().idle() == 0;
  }
}
