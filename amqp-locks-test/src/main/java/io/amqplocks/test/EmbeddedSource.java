package io.amqplocks.test;

import java.util.List;
import java.util.Optional;

/** Apache Qpid Broker-J in this JVM, if it is on the class path. It has no release line. */
final class EmbeddedSource implements BrokerSource {

  private static final List<String> NEEDED =
      List.of(
          "/org/apache/qpid/server/SystemLauncher.class",
          "/org/apache/qpid/server/protocol/v0_8/AMQChannel.class",
          "/org/apache/qpid/server/store/MemoryConfigurationStore.class");

  /** None: only who has no RabbitMQ, or asks for it by name, is given this broker. */
  @Override
  public List<String> lines() {
    return List.of();
  }

  @Override
  public Optional<String> offer(String line) {
    return line.equals(Brokers.EMBEDDED) && isThere()
        ? Optional.of("Apache Qpid Broker-J in this JVM")
        : Optional.empty();
  }

  private static boolean isThere() {
    return NEEDED.stream().allMatch(name -> EmbeddedSource.class.getResource(name) != null);
  }

  @Override
  public OwnedBroker start(String line) {
    return EmbeddedBroker.start();
  }
}
