package io.amqplocks.spring.internal.guard;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;

@BrokerTest(everyLine = true)
class GuardedBySlotsTest extends GuardedMethodContract {

  GuardedBySlotsTest(Broker broker) {
    super(broker, "slots");
  }
}
