package io.amqplocks.test;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The RabbitMQ servers installed on this machine, each started as a private process. */
final class LocalSource implements BrokerSource {

  private final List<Installation> installations;

  LocalSource(Map<String, String> environment) {
    this.installations = Installations.find(environment);
  }

  @Override
  public List<String> lines() {
    return installations.stream().map(found -> found.version().line()).distinct().toList();
  }

  @Override
  public Optional<String> offer(String line) {
    return find(line).map(found -> "RabbitMQ " + found.version());
  }

  @Override
  public OwnedBroker start(String line) {
    Installation installation = find(line).orElseThrow();
    return FreePorts.retryIfTaken(() -> start(NodePlace.alone(installation)));
  }

  static NodeBroker start(NodePlace place) {
    LocalNode node = new LocalNode(place);
    return NodeBroker.start(node, place.address(), node::close);
  }

  Optional<Installation> find(String line) {
    return installations.stream().filter(found -> found.version().line().equals(line)).findFirst();
  }
}
