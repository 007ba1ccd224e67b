package io.amqplocks.test;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a private broker lives: its addresses, ports and name.
 *
 * @param installation what runs there
 * @param within the command that others are run by to be there; empty on the machine itself
 * @param host where it answers AMQP
 * @param nodeHost where Erlang's own protocol and {@code epmd} answer
 * @param nodeName the Erlang node's name
 * @param amqpPort the port of AMQP
 * @param distributionPort the port of Erlang's own protocol
 * @param epmdPort the port of this broker's own {@code epmd}
 * @param cookie the Erlang cookie that it shares with others; null for one of its own
 * @param configuration lines of {@code rabbitmq.conf} that only this broker has
 */
record NodePlace(
    Installation installation,
    List<String> within,
    String host,
    String nodeHost,
    String nodeName,
    int amqpPort,
    int distributionPort,
    int epmdPort,
    @Nullable String cookie,
    String configuration) {

  /** Alone on 127.0.0.1, with ports of its own. */
  static NodePlace alone(Installation installation) {
    int port = FreePorts.next();
    return new NodePlace(
        installation,
        List.of(),
        "127.0.0.1",
        "127.0.0.1",
        "amqp-locks-" + port + "@localhost",
        port,
        FreePorts.next(),
        FreePorts.next(),
        null,
        "");
  }

  /** The command line that runs this command there. */
  List<String> command(String... words) {
    List<String> line = new ArrayList<>(within);
    line.addAll(installation.command(words));
    return line;
  }

  Address address() {
    return Address.of(host, amqpPort);
  }

  /** Erlang wants to be told if what is behind the {@code @} has dots. */
  boolean hasLongName() {
    return nodeName.contains(".");
  }
}
