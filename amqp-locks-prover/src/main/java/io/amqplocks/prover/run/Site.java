package io.amqplocks.prover.run;

import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.run.Plan.Harm;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerVersion;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import io.amqplocks.test.ConnectionError;
import io.amqplocks.test.QueueCleanup;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Where a round happens: on one broker, or on the three nodes of a cluster. */
final class Site {

  /** The last thing that is done to nodes that keep their metadata in Mnesia. */
  static final String REJOINED = "parted nodes restarted by an operator";

  /** Exclusive queues that were once a node's were deleted by one that had found it again. */
  static final String CLEANED_UP = "exclusive queues deleted by another node";

  /** A node ended a connection of its client that may hold leases, by an error of its own. */
  static final String CONNECTION_ERROR = "connection ended by an error of its node";

  /** So ends the name of a connection that holds leases. */
  private static final String HOLDER = " holder";

  /**
   * Nodes miss a silent one after three quarters of that at the earliest. That is more than twice
   * as long as clients are certain, as it is with the defaults of both (docs/GUARANTEES.md).
   */
  static final Duration NET_TICK_TIME = Duration.ofSeconds(8);

  private final List<? extends Broker> nodes;
  private final @Nullable Cluster cluster;

  private Site(List<? extends Broker> nodes, @Nullable Cluster cluster) {
    this.nodes = nodes;
    this.cluster = cluster;
  }

  static Site of(Broker broker) {
    return new Site(List.of(broker), null);
  }

  static Site of(Cluster cluster) {
    return new Site(cluster.nodes(), cluster);
  }

  boolean isCluster() {
    return cluster != null;
  }

  BrokerVersion version() {
    return nodes.get(0).version();
  }

  /** The broker that a client connects to: the first one to node 1, and so on. */
  Broker of(int client) {
    return nodes.get(client % nodes.size());
  }

  /** The broker of the observer, the publisher, strangers, and control commands. */
  Broker home(Plan plan) {
    return of((int) Math.floorMod(plan.seed(), (long) nodes.size()));
  }

  /** What may be done here. */
  List<FaultKind> faults() {
    return isCluster() ? FaultKind.ofClusters() : FaultKind.ofSingleBrokers();
  }

  /** The plan of a round here. */
  Plan plan(long seed, List<FaultKind> faults, Duration length) {
    return isCluster() ? ClusterPlan.of(seed, faults, length) : Plan.of(seed, faults, length);
  }

  /** Kills the process of a queue, on a node that has one. */
  void crashQueue(String queue) {
    IllegalStateException failed = new IllegalStateException("No node has a queue " + queue);
    for (Broker node : nodes) {
      try {
        node.faults().crashQueue(queue);
        return;
      } catch (IllegalStateException notHere) {
        failed.addSuppressed(notHere);
      }
    }
    throw failed;
  }

  /** Before a round. */
  void prepare(Plan plan) {
    if (cluster != null && ClusterPlan.harmsNodes(plan)) {
      cluster.netTickTime(NET_TICK_TIME);
    }
  }

  /** Does to a node what is meant for it, and writes it down. */
  void harmNode(Harm harm, History history) {
    if (cluster == null) {
      throw new IllegalArgumentException("There are no nodes for " + harm);
    }
    ClusterNode node = cluster.nodes().get(harm.client());
    Consumer<FaultSpan> told = span -> history.suffered(span.ofNode(node.number()));
    switch (harm.what()) {
      case NODE_FLAP ->
          Round.during(harm, () -> cluster.breakOffFromPeers(node), node::reconnect, told);
      case NODE_SILENCE -> Round.during(harm, node::cutOffFromPeers, node::reconnect, told);
      case NODE_KILL -> {
        // As for a single broker (trap 21).
        node.faults().writeMembers();
        Round.during(harm, node.faults()::kill, node.faults()::start, told);
      }
      case NODE_STOP -> Round.during(harm, node.faults()::freeze, node.faults()::thaw, told);
      default -> throw new IllegalArgumentException("Not done to nodes: " + harm);
    }
  }

  /**
   * Returns when all nodes are together again. On Mnesia that takes an operator.
   *
   * @param since when the round began, in nanoseconds of the monotonic clock
   */
  void heal(Plan plan, History history, long since) {
    if (cluster != null) {
      long from = System.nanoTime();
      cluster.heal();
      if (!version().isAtLeast(4, 3) && ClusterPlan.harmsNodes(plan)) {
        history.suffered(new FaultSpan(REJOINED, from, System.nanoTime()));
      }
      tellDeeds(cluster, history, since);
    }
  }

  /**
   * What nodes did to exclusive queues of others when they found these again (trap 27), and to
   * connections of their clients.
   */
  private static void tellDeeds(Cluster cluster, History history, long since) {
    long now = System.nanoTime();
    Instant clock = Instant.now();
    List<FaultSpan> deeds = new ArrayList<>();
    for (ClusterNode node : cluster.nodes()) {
      for (QueueCleanup each : node.cleanups()) {
        long to = now - Duration.between(each.ended(), clock).toNanos();
        deeds.add(new FaultSpan(CLEANED_UP, to - each.took().toNanos(), to).ofNode(each.node()));
      }
      for (ConnectionError each : node.connectionErrors()) {
        long at = now - Duration.between(each.at(), clock).toNanos();
        if (each.name().endsWith(HOLDER)) {
          deeds.add(new FaultSpan(CONNECTION_ERROR, at, at).ofNode(node.number()));
        }
      }
    }
    deeds.stream().filter(each -> each.to() > since).forEach(history::suffered);
  }

  /** Whether that is what a node did, and not what was done to one. */
  static boolean isDeed(FaultSpan fault) {
    return fault.what().equals(CLEANED_UP) || fault.what().equals(CONNECTION_ERROR);
  }

  @Override
  public String toString() {
    return "RabbitMQ " + version() + (isCluster() ? ", three nodes" : "");
  }
}
