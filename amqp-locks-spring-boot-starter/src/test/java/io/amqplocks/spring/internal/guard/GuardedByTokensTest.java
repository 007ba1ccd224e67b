package io.amqplocks.spring.internal.guard;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;

@BrokerTest(everyLine = true)
class GuardedByTokensTest extends GuardedMethodContract {

  GuardedByTokensTest(Broker broker) {
    super(broker, "tokens");
  }
}
