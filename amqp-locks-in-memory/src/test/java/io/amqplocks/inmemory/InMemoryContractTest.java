package io.amqplocks.inmemory;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockListener;

class InMemoryContractTest extends LockContract {

  @Override
  AmqpLocks create(LockListener listener) {
    return InMemoryLocks.builder().listener(listener).build();
  }
}
