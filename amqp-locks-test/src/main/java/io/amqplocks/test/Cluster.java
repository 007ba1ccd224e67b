package io.amqplocks.test;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.opentest4j.TestAbortedException;

/**
 * A cluster of three nodes on this machine, each in a network namespace of its own, with real
 * partitions. It takes Linux, root, the command {@code ip}, and a {@code rabbitmq-server} of line 4.3 or
 * newer on this machine ({@code bin/broker} installs one). Starting takes ten seconds, so share one
 * among the tests of a class:
 *
 * <pre>{@code
 * @BeforeAll
 * static void start() {
 *   cluster = Cluster.start();
 * }
 *
 * @AfterEach
 * void heal() {
 *   cluster.heal();
 * }
 *
 * @AfterAll
 * static void close() {
 *   if (cluster != null) {
 *     cluster.close();
 *   }
 * }
 * }</pre>
 *
 * <p>Any number may run at once. Nothing of a cluster outlives the JVM, however that ends. One thread
 * at a time.
 */
public final class Cluster implements AutoCloseable {

  private static final List<Integer> NUMBERS = List.of(1, 2, 3);
  private static final Duration TOGETHER = Duration.ofSeconds(90);

  private final ClusterNetwork network;
  private final List<ClusterNode> nodes;

  /**
   * Starts a cluster and returns when all its nodes are members and running.
   *
   * @throws TestAbortedException if there can be none on this machine: JUnit reports the test or class
   *     as skipped, with the reason
   * @throws IllegalStateException the same if {@code AMQP_LOCKS_BROKER_REQUIRED} is {@code true}; or if
   *     it does not start, with the end of a node's log
   */
  public static Cluster start() {
    Map<String, String> environment = System.getenv();
    Installation installation = ClusterOffer.find(environment);
    ClusterNetwork network = network(environment);
    List<ClusterNode> started = new CopyOnWriteArrayList<>();
    try {
      together(NUMBERS, number -> started.add(run(network, installation, number)));
      Cluster cluster = new Cluster(network, started);
      cluster.awaitTogether();
      BrokerRecord.add(cluster.node(1).version());
      return cluster;
    } catch (RuntimeException failed) {
      started.forEach(ClusterNode::close);
      network.close();
      throw failed;
    }
  }

  private static ClusterNetwork network(Map<String, String> environment) {
    try {
      return ClusterNetwork.make();
    } catch (IllegalStateException cannot) {
      throw ClusterOffer.missing(environment, String.valueOf(cannot.getMessage()));
    }
  }

  private static ClusterNode run(ClusterNetwork network, Installation installation, int number) {
    NodePlace place = network.place(installation, number, NUMBERS);
    LocalNode node = new LocalNode(place);
    OwnedBroker broker = NodeBroker.start(node, place.address(), node::close);
    return new ClusterNode(number, broker, node, network);
  }

  private Cluster(ClusterNetwork network, List<ClusterNode> nodes) {
    this.network = network;
    this.nodes = nodes.stream().sorted(Comparator.comparingInt(ClusterNode::number)).toList();
  }

  /** The nodes, from number 1 on. */
  public List<ClusterNode> nodes() {
    return nodes;
  }

  /** The node of that number, 1 to 3. */
  public ClusterNode node(int number) {
    return nodes.get(number - 1);
  }

  /**
   * The node that leads the metadata store, where all queues are registered. When it fails, the others
   * choose another: at once if it was killed; if it was cut off, after about ten seconds, seldom a
   * minute.
   *
   * @throws IllegalStateException if none of the nodes leads now
   */
  public ClusterNode leader() {
    return nodes.stream()
        .filter(ClusterNode::leads)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("No node leads the metadata store now"));
  }

  /** The nodes but that one. */
  public List<ClusterNode> others(ClusterNode node) {
    return nodes.stream().filter(each -> each != node).toList();
  }

  /** Undoes all faults of all nodes, and returns when all of them run and see one another. */
  public void heal() {
    nodes.forEach(ClusterNode::reconnect);
    // At the same time: a node may need another one to start.
    together(
        nodes,
        node -> {
          node.faults().heal();
          return node;
        });
    awaitTogether();
  }

  /**
   * Returns when every node runs and sees all others running, and one of them leads.
   *
   * @throws IllegalStateException if that takes longer than 90 seconds
   */
  public void awaitTogether() {
    long end = System.nanoTime() + TOGETHER.toNanos();
    while (nodes.stream().anyMatch(node -> node.runningNodes() < nodes.size())
        || nodes.stream().filter(ClusterNode::leads).count() != 1) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("The nodes did not come together within " + TOGETHER);
      }
      try {
        Thread.sleep(100);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted while waiting for a cluster", interrupted);
      }
    }
  }

  /** Ends all nodes and deletes their data and their network. Again it does nothing. */
  @Override
  public void close() {
    nodes.forEach(ClusterNode::close);
    network.close();
  }

  /** Does it for all at the same time; if one fails, when the others are done as well. */
  private static <A, B> List<B> together(List<A> all, Function<A, B> what) {
    List<CompletableFuture<B>> begun =
        all.stream()
            .map(
                each ->
                    CompletableFuture.supplyAsync(
                        () -> what.apply(each), task -> new Thread(task, "cluster-node").start()))
            .toList();
    try {
      CompletableFuture.allOf(begun.toArray(CompletableFuture[]::new)).join();
      return begun.stream().map(CompletableFuture::join).toList();
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
    }
  }
}
