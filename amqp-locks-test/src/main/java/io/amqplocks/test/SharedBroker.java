package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;

/**
 * A broker as one test class sees it that shares it with others.
 *
 * @param broker the broker itself
 * @param faults those that hurt nobody else
 */
record SharedBroker(Broker broker, BrokerFaults faults) implements Broker {

  @Override
  public String uri() {
    return broker.uri();
  }

  @Override
  public String host() {
    return broker.host();
  }

  @Override
  public int port() {
    return broker.port();
  }

  @Override
  public BrokerVersion version() {
    return broker.version();
  }

  @Override
  public ConnectionFactory connectionFactory() {
    return broker.connectionFactory();
  }

  @Override
  public String toString() {
    return broker.toString();
  }
}
