package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster on Mnesia: RabbitMQ 3.10. */
@Tag("one-jdk")
class OldClusterTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private static Cluster cluster;

  @BeforeAll
  static void start() {
    cluster = Cluster.start("3.10");
  }

  @AfterAll
  static void close() {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** Without it all is as it was, but dearer. */
  @Test
  void everyNodeDidWhatIsToBeDoneBeforeItsServerBoots() {
    assertThat(cluster.nodes())
        .allMatch(node -> node.ask(Erlang.PREPARED).startsWith("amqp-locks@"));
  }

  @Test
  void whatABreakHasPartedIsTogetherAgainWhenHealed() throws Exception {
    assertThat(cluster.version().line()).isEqualTo("3.10");
    try (Connection connection = cluster.node(2).connectionFactory().newConnection()) {
      connection.createChannel().queueDeclare("classic", true, false, false, Map.of());
      connection
          .createChannel()
          .queueDeclare("quorum", true, false, false, Map.of("x-queue-type", "quorum"));
    }
    assertThat(cluster.nodeOf("classic")).isSameAs(cluster.node(2));
    assertThat(cluster.nodeOf("quorum")).isSameAs(cluster.node(2));

    try (Connection connection = cluster.node(1).connectionFactory().newConnection()) {
      cluster.breakOffFromPeers(cluster.node(1));

      await().atMost(LONG).until(() -> cluster.node(1).runningNodes() == 1);
      await()
          .atMost(LONG)
          .until(() -> cluster.node(2).runningNodes() == 2 && cluster.node(3).runningNodes() == 2);
      // The client of the node that was cut off has noticed nothing.
      connection.createChannel().close();
    }

    cluster.heal();

    assertThat(cluster.nodes()).allMatch(node -> node.runningNodes() == 3);
  }
}
