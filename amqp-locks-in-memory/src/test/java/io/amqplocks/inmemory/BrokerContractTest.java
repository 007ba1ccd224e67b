package io.amqplocks.inmemory;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockListener;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;

@BrokerTest
class BrokerContractTest extends LockContract {

  private final Broker broker;

  BrokerContractTest(Broker broker) {
    this.broker = broker;
  }

  @Override
  AmqpLocks create(LockListener listener) {
    return AmqpLocks.builder(broker.connectionFactory()).listener(listener).build();
  }
}
