package io.amqplocks.test;

import java.util.List;
import java.util.Optional;

/** Where brokers can be had from. */
interface BrokerSource {

  /** The release lines that it offers unasked, newest first. */
  List<String> lines();

  /**
   * The name of the broker that it has for this line, for instance {@code RabbitMQ 4.3.6}, without
   * starting it; empty if it has none.
   */
  Optional<String> offer(String line);

  /** Starts a broker of a line that is on offer. */
  OwnedBroker start(String line);
}
