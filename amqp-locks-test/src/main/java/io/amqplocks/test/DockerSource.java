package io.amqplocks.test;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Docker containers of the image {@code rabbitmq:LINE}, by Testcontainers. */
final class DockerSource implements BrokerSource {

  private static final String NEWEST = "4.3";

  /** Lines that there are images of; a container of any other is not even tried. */
  private static final Set<String> KNOWN =
      Set.of(NEWEST, "4.2", "4.1", "4.0", "3.13", "3.12", "3.11", "3.10");

  private static final long ANSWER_MILLIS = 5_000;

  /**
   * Whether Testcontainers is on the class path and a Docker engine answers. Looked at by hand,
   * because Testcontainers itself takes long to find that there is none, and logs much about it.
   */
  static boolean available(Map<String, String> environment) {
    return testcontainers() && engine(environment.getOrDefault("DOCKER_HOST", ""));
  }

  private static boolean testcontainers() {
    String name = "/org/testcontainers/rabbitmq/RabbitMQContainer.class";
    return DockerSource.class.getResource(name) != null;
  }

  private static boolean engine(String host) {
    if (!host.isEmpty() && !host.startsWith("unix://")) {
      return true; // Someone took care to name a remote engine: it will be there.
    }
    Path socket = Path.of(host.isEmpty() ? "/var/run/docker.sock" : host.substring(7));
    return Files.exists(socket) && answersPing(socket);
  }

  private static boolean answersPing(Path socket) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        Selector reply = Selector.open()) {
      channel.configureBlocking(false);
      if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
        return false; // So many wait for it already that it is no use.
      }
      String request = "GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n";
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
      // Before that nothing is read, and the head is empty.
      channel.register(reply, SelectionKey.OP_READ);
      reply.select(ANSWER_MILLIS);
      ByteBuffer bytes = ByteBuffer.allocate(64);
      channel.read(bytes);
      String head = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII);
      return head.startsWith("HTTP/") && head.contains(" 200");
    } catch (IOException nobody) {
      return false;
    }
  }

  @Override
  public List<String> lines() {
    return List.of(NEWEST);
  }

  @Override
  public Optional<String> offer(String line) {
    return KNOWN.contains(line) ? Optional.of("RabbitMQ " + line + " in Docker") : Optional.empty();
  }

  @Override
  public OwnedBroker start(String line) {
    DockerNode node = new DockerNode(line);
    return NodeBroker.start(node, node.address(), node::close);
  }
}
