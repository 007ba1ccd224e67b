package io.amqplocks.test;

import java.util.List;
import java.util.Optional;

/** The one broker that {@code AMQP_LOCKS_BROKER_URI} names; it serves whatever its line. */
final class ExternalSource implements BrokerSource {

  private final ExternalBroker broker;

  ExternalSource(String uri) {
    this.broker = new ExternalBroker(uri);
  }

  @Override
  public List<String> lines() {
    return List.of(broker.version().line());
  }

  @Override
  public Optional<String> offer(String line) {
    return line.equals(Brokers.EMBEDDED)
        ? Optional.empty()
        : Optional.of("RabbitMQ " + broker.version());
  }

  @Override
  public OwnedBroker start(String line) {
    return broker;
  }
}
