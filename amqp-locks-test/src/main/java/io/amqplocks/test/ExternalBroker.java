package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;
import java.time.Duration;
import org.opentest4j.TestAbortedException;

/** The broker that {@code AMQP_LOCKS_BROKER_URI} names: used, never hurt, never ended. */
final class ExternalBroker implements OwnedBroker {

  private static final Duration ANSWER = Duration.ofSeconds(20);

  private final Address address;
  private final BrokerVersion version;

  ExternalBroker(String uri) {
    this.address = new Address(uri);
    this.version = address.awaitVersion(ANSWER);
  }

  @Override
  public String uri() {
    return address.uri();
  }

  @Override
  public String host() {
    return connectionFactory().getHost();
  }

  @Override
  public int port() {
    return connectionFactory().getPort();
  }

  @Override
  public BrokerVersion version() {
    return version;
  }

  @Override
  public ConnectionFactory connectionFactory() {
    return address.connectionFactory();
  }

  @Override
  public BrokerFaults faults() {
    throw new TestAbortedException(
        "The broker of AMQP_LOCKS_BROKER_URI is external and may not be hurt");
  }

  @Override
  public void close() {
    // Not ours to end.
  }

  @Override
  public String toString() {
    return "RabbitMQ " + version + " at " + address.withoutPassword();
  }
}
