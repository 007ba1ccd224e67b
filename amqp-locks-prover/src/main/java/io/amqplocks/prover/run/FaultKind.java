package io.amqplocks.prover.run;

import java.util.Arrays;
import java.util.List;

/** What is done to clients and brokers while clients work. */
enum FaultKind {
  /** A client is killed. */
  KILL("kill -9 of a client"),
  /** A client is stopped for a while, as by a long pause of its machine. */
  STOP("SIGSTOP of a client"),
  /** A client's connections are closed in an orderly way. */
  CUT("connections of a client closed"),
  /** A client's connections are broken. */
  RESET("connections of a client reset"),
  /** The broker loses a client's connections, and the client is not told. */
  HALF_CUT("connections of a client lost on the broker's side only"),
  /** A client reaches the broker, and hears nothing of it for a while. */
  DEAF("nothing arrives at a client"),
  /** A client hears the broker, and does not reach it for a while. */
  MUTE("nothing arrives from a client"),
  /** A client and the broker do not reach each other for a while. */
  PARTITION("no connection between a client and the broker"),
  /** Everything takes longer for a while. */
  DELAY("a slow connection of a client"),
  /** The broker's answers come when a client does not wait for them any more. */
  LATE("answers that come too late"),
  /** The broker is killed and started again. */
  BROKER_KILL("kill -9 of the broker, and a start"),
  /** The broker is stopped for a while. */
  BROKER_STOP("SIGSTOP of the broker"),
  /** The broker closes connections of all clients, as an operator has it do. */
  CLOSE("connections closed by an operator"),
  /** The broker blocks connections that publish, for a while. */
  ALARM("memory alarm"),
  /** A policy applies to the locks' queues for a while. */
  POLICY("a policy set and removed"),
  /** The process of a lock's queue is killed, and the broker starts another one. */
  QUEUE_CRASH("a crashed queue"),
  /** Queues of mutexes, slots and read-write locks are deleted again and again, for a while. */
  QUEUE_DELETE("deleted queues of mutexes, slots and read-write locks"),
  /** The process of the gate of a read-write lock is killed. Nothing but the order relies on it. */
  GATE_CRASH("a crashed gate of a read-write lock"),
  /** Gates of read-write locks are deleted again and again, for a while. */
  GATE_DELETE("deleted gates of read-write locks"),
  /** The process of a queue that sole consumers consume is killed. It keeps its messages. */
  CONSUMED_CRASH("a crashed queue of a sole consumer"),
  /** A quorum queue takes its holders' node for gone, for a moment. No client is told. */
  LINK_DROP("a quorum queue that lost its holders' node"),
  /** A stranger publishes to the locks' queues, for a while. */
  STRANGER("a stranger's messages"),
  /** A stranger gets messages from the locks' queues and gives them back, for a while. */
  READER("a stranger who gets messages"),
  /** A node of a cluster and the others lose their connections, and cannot have new ones. */
  NODE_FLAP("a node that loses the others"),
  /** Nothing passes between a node of a cluster and the others. Nobody is told. */
  NODE_SILENCE("no link between a node and the others"),
  /** A node of a cluster is killed and started again. */
  NODE_KILL("kill -9 of a node, and a start"),
  /** A node of a cluster is stopped for a while. */
  NODE_STOP("SIGSTOP of a node");

  private final String label;

  FaultKind(String label) {
    this.label = label;
  }

  /** As people read it. */
  String label() {
    return label;
  }

  /** Whether it finds nothing to harm where nobody consumes. */
  boolean onlyForConsumers() {
    return this == CONSUMED_CRASH;
  }

  /** Whether it finds nothing to harm where everybody consumes. */
  boolean onlyForOthers() {
    return this == GATE_CRASH || this == GATE_DELETE || this == LINK_DROP;
  }

  /** Whether a lease may be lost by it. */
  boolean mayTakeLeases() {
    return this != ALARM && this != GATE_DELETE;
  }

  /** Whether it is done to one node of a cluster: the one that its client has. */
  boolean isOfNodes() {
    return switch (this) {
      case NODE_FLAP, NODE_SILENCE, NODE_KILL, NODE_STOP -> true;
      default -> false;
    };
  }

  /** What is done where there is one broker. */
  static List<FaultKind> ofSingleBrokers() {
    return Arrays.stream(values()).filter(kind -> !kind.isOfNodes()).toList();
  }

  /** What is done where there are three. One of them is killed or stopped, and not all. */
  static List<FaultKind> ofClusters() {
    return Arrays.stream(values())
        .filter(kind -> kind != BROKER_KILL && kind != BROKER_STOP)
        .toList();
  }

  /** Those of a single client. */
  static List<FaultKind> ofClients() {
    return List.of(KILL, STOP, CUT, RESET, HALF_CUT, DEAF, MUTE, PARTITION, DELAY, LATE);
  }
}
