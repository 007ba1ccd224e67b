package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("one-jdk")
class ClusterTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private static Cluster cluster;

  /** Holds a cluster until it is killed. */
  static final class Owner {

    public static void main(String[] args) throws IOException {
      try (Cluster owned = Cluster.start()) {
        System.out.println("namespace " + namespace(owned));
        ProcessHandle.current()
            .descendants()
            .forEach(process -> System.out.println("process " + process.pid()));
        owned.node(2).faults().freeze();
        System.out.println("ready");
        System.in.read();
      }
    }
  }

  @BeforeAll
  static void start() {
    cluster = Cluster.start();
  }

  @AfterEach
  void heal() {
    cluster.heal();
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
  void whatOneNodeIsToldTheOthersKnow() throws Exception {
    assertThat(cluster.nodes()).hasSize(3).extracting(ClusterNode::number).containsExactly(1, 2, 3);
    ClusterNode leader = cluster.leader();
    assertThat(cluster.others(leader)).hasSize(2).doesNotContain(leader);
    try (Connection first = cluster.node(1).connectionFactory().newConnection();
        Connection third = cluster.node(3).connectionFactory().newConnection()) {
      first.createChannel().queueDeclare("known", true, false, false, Map.of());
      // It asks its own copy of the metadata, which may be a little behind.
      await()
          .atMost(LONG)
          .ignoreExceptions()
          .until(() -> third.createChannel().queueDeclarePassive("known") != null);
      third.createChannel().queueDelete("known");
    }
  }

  @Test
  void anyNodeIsMadeLeader() {
    for (ClusterNode node : cluster.nodes()) {
      // On a busy machine they may choose another one at once.
      await()
          .atMost(LONG)
          .until(
              () -> {
                cluster.makeLeader(node);
                return cluster.leader() == node;
              });
    }
  }

  @Test
  void aNodeThatIsSilentIsMissedWithinTheTickTimeUntilHealed() {
    assertThat(cluster.nodes()).allMatch(node -> node.netTickTime().equals(LONG));
    cluster.netTickTime(Duration.ofSeconds(8));
    assertThat(cluster.nodes()).allMatch(node -> node.netTickTime().toSeconds() == 8);

    cluster.node(2).faults().freeze();

    // By default it would be 45 s at least.
    await()
        .atMost(Duration.ofSeconds(40))
        .until(() -> cluster.node(1).runningNodes() == 2 && cluster.node(3).runningNodes() == 2);

    cluster.heal();
    assertThat(cluster.nodes()).allMatch(node -> node.netTickTime().equals(LONG));
  }

  @Test
  void aKilledNodeComesBackAsAMember() throws Exception {
    cluster.node(2).faults().kill();

    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> cluster.node(1).runningNodes() == 2 && cluster.node(3).runningNodes() == 2);
    assertThatThrownBy(() -> cluster.node(2).connectionFactory().newConnection())
        .isInstanceOf(IOException.class);

    cluster.heal();
    assertThat(cluster.nodes()).allMatch(node -> node.runningNodes() == 3);
    cluster.node(2).connectionFactory().newConnection().close();
  }

  @Test
  void aNodeCutOffFromItsPeersStillHasItsClients() throws Exception {
    ClusterNode alone = cluster.others(cluster.leader()).get(0);
    Connection connection = connection(alone);
    Channel channel = connection.createChannel();

    alone.cutOffFromPeers();

    // To register a queue takes a majority.
    assertThatThrownBy(() -> channel.queueDeclare("q", false, true, false, Map.of()))
        .isInstanceOf(ChannelContinuationTimeoutException.class);
    connection.abort(100);
  }

  @Test
  void aNodeCutOffHasNobody() throws Exception {
    ClusterNode alone = cluster.others(cluster.leader()).get(0);
    Connection connection = connection(alone);

    alone.cutOff();

    assertThatThrownBy(connection::createChannel)
        .isInstanceOf(ChannelContinuationTimeoutException.class);
    assertThat(connection.isOpen()).isTrue();
    connection.abort(100);
  }

  private static Connection connection(ClusterNode node) throws Exception {
    ConnectionFactory factory = node.connectionFactory();
    factory.setRequestedHeartbeat(60);
    factory.setChannelRpcTimeout(5_000);
    return factory.newConnection();
  }

  /** One of whose nodes is frozen. */
  @Test
  void nothingOutlivesAKilledJvm() throws Exception {
    try (ChildJvm owner = ChildJvm.of(Owner.class).start()) {
      String namespace =
          owner.awaitLine("namespace ", Duration.ofMinutes(5)).substring("namespace ".length());
      owner.awaitLine("ready", Duration.ofMinutes(5));
      assertThat(namespaces(namespace)).hasSize(4);
      assertThat(namespace).isNotEqualTo(namespace(cluster));
      List<Long> processes = processes(owner);
      assertThat(processes).hasSizeGreaterThan(6);

      owner.killNow();

      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  namespaces(namespace).isEmpty()
                      && processes.stream().noneMatch(pid -> ProcessHandle.of(pid).isPresent()));
    }
  }

  /** What the names of its namespaces begin with; its addresses have the same number. */
  private static String namespace(Cluster of) {
    return of.node(1).host().replaceAll("198\\.19\\.(\\d+)\\.1", "amqp-locks-$1-");
  }

  private static List<Long> processes(ChildJvm owner) {
    return owner.lines().stream()
        .filter(line -> line.startsWith("process "))
        .map(line -> Long.valueOf(line.substring("process ".length())))
        .toList();
  }

  private static List<Path> namespaces(String prefix) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/run/netns"))) {
      return all.filter(each -> each.getFileName().toString().startsWith(prefix)).toList();
    }
  }
}
