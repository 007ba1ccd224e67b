package io.amqplocks.test;

import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.opentest4j.TestAbortedException;

/**
 * A cluster of three nodes on this machine, each in a network namespace of its own, with real
 * partitions. It takes Linux, root, the command {@code ip}, and a {@code rabbitmq-server} on this
 * machine ({@code bin/broker} installs some). Starting takes ten seconds, so share one among the
 * tests of a class:
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
 * <p>Any number may run at once. Nothing of a cluster outlives the JVM, however that ends. One
 * thread at a time.
 */
public final class Cluster implements AutoCloseable {

  private static final List<Integer> NUMBERS = List.of(1, 2, 3);
  private static final Duration TOGETHER = Duration.ofMinutes(3);

  /** A node hears of another node's queue within this time. */
  private static final Duration KNOWN = Duration.ofSeconds(5);

  /** Restarted servers are together within this time, or need another restart. */
  private static final Duration REJOINED = Duration.ofSeconds(15);

  private static final Duration NET_TICK_TIME = Duration.ofMinutes(1);

  private final ClusterNetwork network;
  private final List<ClusterNode> nodes;
  private boolean ticksOtherwise;

  /**
   * Starts a cluster of the first line wanted that is 4.3 or newer, and returns when all its nodes
   * are members and running.
   *
   * @throws TestAbortedException if there can be none on this machine: JUnit reports the test or
   *     class as skipped, with the reason
   * @throws IllegalStateException the same if {@code AMQP_LOCKS_BROKER_REQUIRED} is {@code true};
   *     or if it does not start, with the end of a node's log
   */
  public static Cluster start() {
    return start(System.getenv(), ClusterOffer.find(System.getenv()));
  }

  /**
   * Starts a cluster of that line, for instance {@code 3.10}, or another that keeps its metadata in
   * Mnesia. There nobody {@linkplain #leader() leads}, and what a cut has parted stays so until one
   * side is restarted, as RabbitMQ does by default ({@code cluster_partition_handling = ignore}).
   *
   * @throws TestAbortedException if that line is not wanted, or there can be no cluster of it on
   *     this machine: JUnit reports the test or class as skipped, with the reason
   * @throws IllegalStateException as {@link #start()} does
   */
  public static Cluster start(String line) {
    return start(System.getenv(), ClusterOffer.find(System.getenv(), line));
  }

  private static Cluster start(Map<String, String> environment, Installation installation) {
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
   * The node that leads the metadata store, where all queues are registered. When it fails, the
   * others choose another: at once if it was killed; if it was cut off, after about ten seconds,
   * seldom a minute. On a busy machine they may choose anew without a fault, and none leads for a
   * moment. So this waits for one.
   *
   * @throws IllegalStateException if none of them leads within three minutes; on Mnesia at once
   */
  public ClusterNode leader() {
    if (!onKhepri()) {
      throw noLeader();
    }
    return await(() -> nodes.stream().filter(ClusterNode::leads).findFirst(), TOGETHER)
        .orElseThrow(() -> late("choose a leader"));
  }

  /**
   * Lets that node lead the metadata store, and returns when all nodes know that it does. All must
   * run and see one another. On a busy machine they may choose anew at any time, so do it right
   * before it matters.
   *
   * @throws IllegalStateException if not all know it as their leader within about three minutes; on
   *     Mnesia at once
   */
  public void makeLeader(ClusterNode node) {
    if (!onKhepri()) {
      throw noLeader();
    }
    Supplier<Optional<ClusterNode>> attempt =
        () -> {
          node.takeLead();
          return allFollow(node) ? Optional.of(node) : Optional.empty();
        };
    if (await(attempt, TOGETHER).isEmpty()) {
      throw late("make node " + node.number() + " their leader");
    }
  }

  private boolean allFollow(ClusterNode node) {
    String name = network.nodeName(node.number());
    return nodes.stream().allMatch(each -> each.knownLeader().equals(name));
  }

  private static IllegalStateException noLeader() {
    return new IllegalStateException("No node leads the metadata store now");
  }

  /** The nodes but that one. */
  public List<ClusterNode> others(ClusterNode node) {
    return nodes.stream().filter(each -> each != node).toList();
  }

  /** The version that all nodes have. */
  public BrokerVersion version() {
    return node(1).version();
  }

  /**
   * Where a queue is; of a quorum queue the node that leads it. Node 1 is asked, and may hear of a
   * queue a moment after another node has declared it.
   *
   * @throws IllegalStateException if there is no such queue as far as node 1 knows, after five
   *     seconds
   */
  public ClusterNode nodeOf(String queue) {
    return await(() -> knownNodeOf(queue), KNOWN)
        .orElseThrow(() -> new IllegalStateException("There is no queue named " + queue));
  }

  private Optional<ClusterNode> knownNodeOf(String queue) {
    String name = node(1).ask(Erlang.fill(Erlang.QUEUE_NODE, queue));
    return nodes.stream().filter(node -> network.nodeName(node.number()).equals(name)).findFirst();
  }

  /**
   * Breaks the connections between that node and the others, and prevents new ones until {@link
   * ClusterNode#reconnect()}. Both sides know at once, as after a reset of the network between
   * them, while nobody notices {@link ClusterNode#cutOffFromPeers()} for a minute. Clients on this
   * machine reach all nodes as ever.
   */
  public void breakOffFromPeers(ClusterNode node) {
    node.cutOffFromPeers();
    together(
        nodes,
        each -> {
          each.disconnect(each == node ? "" : network.nodeName(node.number()));
          return each;
        });
  }

  /**
   * Sets {@code net_ticktime} of all nodes, until {@link #heal()}. They take one of them for down
   * that has been silent for that long, or for a quarter more or less. By default it is a minute.
   *
   * @param time in whole seconds
   */
  public void netTickTime(Duration time) {
    ticksOtherwise = true;
    nodes.forEach(node -> node.netTickTime(time));
  }

  /**
   * Undoes all faults of all nodes, and returns when all of them run and see one another. On Mnesia
   * this restarts the servers that see fewer nodes than the one that sees most, again if need be: a
   * node may notice that it has lost another one a minute after the cut has ended.
   *
   * @throws IllegalStateException if that does not help for minutes, with what each node sees
   */
  public void heal() {
    nodes.forEach(ClusterNode::reconnect);
    // At the same time: a node may need another one to start.
    together(
        nodes,
        node -> {
          node.faults().heal();
          return node;
        });
    if (ticksOtherwise) {
      netTickTime(NET_TICK_TIME);
      ticksOtherwise = false;
    }
    if (!onKhepri()) {
      rejoin();
    }
    awaitTogether();
  }

  private void rejoin() {
    long end = System.nanoTime() + TOGETHER.toNanos();
    do {
      // A node that only believes in the others notices now, and is not taken for the largest
      // group.
      nodes.forEach(ClusterNode::answeringNodes);
      restartParted();
    } while (!comesTogether(REJOINED) && System.nanoTime() - end < 0);
  }

  private void restartParted() {
    // One of the largest group, and whoever is not of it.
    ClusterNode best = Collections.max(nodes, Comparator.comparingInt(ClusterNode::runningNodes));
    int most = best.runningNodes();
    others(best).stream()
        .filter(node -> most == 1 || node.runningNodes() < most)
        .forEach(ClusterNode::startServerAnew);
  }

  /**
   * Returns when every node runs and sees all others running, and one of them leads where any does.
   * By then each has deleted what it deletes of nodes that came back, unless it takes half a minute
   * for that.
   *
   * @throws IllegalStateException if that takes longer than three minutes, with what each node sees
   */
  public void awaitTogether() {
    if (!comesTogether(TOGETHER)) {
      throw late("come together");
    }
    // Each tells the others that it is there when it sees them, and is told the same.
    nodes.forEach(ClusterNode::awaitDealtWith);
    nodes.forEach(ClusterNode::awaitDealtWith);
  }

  private boolean comesTogether(Duration patience) {
    return await(() -> areTogether() ? Optional.of(true) : Optional.empty(), patience).isPresent();
  }

  private boolean areTogether() {
    return nodes.stream().allMatch(node -> node.runningNodes() == nodes.size())
        && nodes.stream().allMatch(node -> node.answeringNodes() == nodes.size())
        && isLed();
  }

  private static <T> Optional<T> await(Supplier<Optional<T>> look, Duration patience) {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      Optional<T> found = look.get();
      if (found.isPresent() || System.nanoTime() - end > 0) {
        return found;
      }
      try {
        Thread.sleep(100);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted while waiting for a cluster", interrupted);
      }
    }
  }

  private IllegalStateException late(String what) {
    String seen =
        nodes.stream()
            .map(node -> "node " + node.number() + " sees " + node.peers())
            .collect(Collectors.joining("; "));
    return new IllegalStateException(
        "The nodes did not %s within %s: %s".formatted(what, TOGETHER, seen));
  }

  private boolean isLed() {
    return !onKhepri() || nodes.stream().filter(ClusterNode::leads).count() == 1;
  }

  /** Older ones are on Mnesia, as far as they are started here. */
  private boolean onKhepri() {
    return version().isAtLeast(4, 3);
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
