package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of Docker can be tested without it. */
class DockerSourceTest {

  @Test
  void isThereIfItsEngineAnswers(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("docker.sock");
    Map<String, String> environment = Map.of("DOCKER_HOST", "unix://" + socket);
    assertThat(DockerSource.available(environment)).isFalse();
    try (ServerSocketChannel engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      engine.bind(UnixDomainSocketAddress.of(socket));
      ProxyThreads.start("test-docker", () -> answer(engine));
      assertThat(DockerSource.available(environment)).isTrue();
    }
    assertThat(DockerSource.available(environment)).isFalse();
  }

  private static void answer(ServerSocketChannel engine) {
    try (SocketChannel client = engine.accept()) {
      client.read(ByteBuffer.allocate(256));
      client.write(
          ByteBuffer.wrap("HTTP/1.0 200 OK\r\n\r\nOK".getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException closed) {
      // The assertion tells.
    }
  }

  @Test
  void isNotThereIfItsEngineIsSilent(@TempDir Path folder) throws IOException {
    Path socket = folder.resolve("docker.sock");
    try (ServerSocketChannel engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      engine.bind(UnixDomainSocketAddress.of(socket)); // And the kernel accepts for it.
      Map<String, String> environment = Map.of("DOCKER_HOST", "unix://" + socket);
      boolean available =
          assertTimeoutPreemptively(
              Duration.ofSeconds(30), () -> DockerSource.available(environment));
      assertThat(available).isFalse();
    }
  }

  @Test
  void offersOnlyLinesThatThereAreImagesOf() {
    DockerSource docker = new DockerSource();
    assertThat(docker.offer("4.3")).hasValue("RabbitMQ 4.3 in Docker");
    assertThat(docker.offer("3.10")).isPresent();
    assertThat(docker.offer("9.9")).isEmpty();
    assertThat(docker.lines()).allMatch(line -> docker.offer(line).isPresent());
  }

  /** Testcontainers waits for all exposed ports, and only the bound one stays after a restart. */
  @Test
  void exposesNoPortThatIsNotBound() {
    try (DockerNode node = new DockerNode("4.3")) {
      assertThat(node.container().getExposedPorts()).containsExactly(5672);
      assertThat(node.container().getPortBindings())
          .singleElement()
          .asString()
          .matches("\\d+:5672/tcp");
    }
  }
}
