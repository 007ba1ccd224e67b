package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.test.ClusterNetwork.Bridge;
import java.time.Duration;
import java.util.List;

/**
 * One node of a {@link Cluster}: a broker of its own for its clients, with all the faults that
 * brokers have, and those of a network between nodes. Its {@link #faults()} look at the cluster
 * from where this node stands, and a queue that lives on another one may be missing from their
 * lists.
 */
public final class ClusterNode implements Broker {

  private final int number;
  private final OwnedBroker broker;
  private final LocalNode control;
  private final ClusterNetwork network;

  ClusterNode(int number, OwnedBroker broker, LocalNode control, ClusterNetwork network) {
    this.number = number;
    this.broker = broker;
    this.control = control;
    this.network = network;
  }

  /** 1 to 3. */
  public int number() {
    return number;
  }

  /** Cuts the node off from the other nodes, in silence; clients on this machine still reach it. */
  public void cutOffFromPeers() {
    network.cut(Bridge.PEERS, number);
  }

  /** Cuts the node off from the other nodes and from all clients, in silence. */
  public void cutOff() {
    cutOffFromPeers();
    network.cut(Bridge.CLIENTS, number);
  }

  /** Ends a cut. Does nothing if there is none. */
  public void reconnect() {
    network.join(Bridge.PEERS, number);
    network.join(Bridge.CLIENTS, number);
  }

  /**
   * Stops the server and starts it again, as an operator does by stop_app and start_app. One that
   * does not stop, which was seen after a break of 70 s, is killed.
   */
  void startServerAnew() {
    try {
      control.eval(Erlang.START_ANEW);
    } catch (IllegalStateException hangs) {
      faults().kill();
      faults().start();
    }
  }

  /** Closes its connection with that node, or with all if the name is empty. */
  void disconnect(String from) {
    control.eval(Erlang.fill(Erlang.DISCONNECT, from));
  }

  /** How many nodes this one believes to be running, itself included; 0 if it cannot be asked. */
  int runningNodes() {
    String running = ask(Erlang.RUNNING_NODES);
    return running.isEmpty() ? 0 : Integer.parseInt(running);
  }

  /**
   * How many nodes it has a connection with that still carries a call, itself included. A cut may
   * have ended one that this side believes in until it sends again.
   */
  int answeringNodes() {
    String answering = ask(Erlang.ANSWERING_NODES);
    return answering.isEmpty() ? 0 : Integer.parseInt(answering);
  }

  /**
   * Returns when it has dealt with all that it was told of other nodes by then. It deletes queues
   * of one that came back.
   */
  void awaitDealtWith() {
    String unused = ask(Erlang.NODES_DEALT_WITH);
  }

  /** The nodes that it has a connection with and those that it believes to run, for a report. */
  String peers() {
    return control.running() ? ask(Erlang.PEERS) : "nothing, since it does not run";
  }

  /**
   * This node's {@code net_ticktime}: it takes another one for down that has been silent for that
   * long, or for a quarter more or less.
   */
  public Duration netTickTime() {
    return Duration.ofSeconds(Long.parseLong(control.eval(Erlang.NET_TICK_TIME)));
  }

  void netTickTime(Duration time) {
    control.eval(Erlang.fill(Erlang.SET_NET_TICK_TIME, Long.toString(time.toSeconds())));
  }

  /**
   * Each time that this node deleted exclusive queues of a node that it had found again, as its log
   * says.
   */
  public List<QueueCleanup> cleanups() {
    return log().stream().flatMap(line -> QueueCleanup.of(line, network).stream()).toList();
  }

  private List<String> log() {
    String unused = ask(Erlang.FLUSH_LOG);
    return control.log();
  }

  /** Each connection that this node ended because of an error of its own, as its log says. */
  public List<ConnectionError> connectionErrors() {
    return log().stream().flatMap(line -> ConnectionError.of(line).stream()).toList();
  }

  /** The state of each quorum queue's member here, for someone who looks for a reason. */
  public String quorumQueues() {
    return ask(Erlang.QUORUM_QUEUES);
  }

  /** Whether this node, as far as it knows, leads the metadata store of the cluster. */
  boolean leads() {
    return knownLeader().equals(network.nodeName(number));
  }

  /** Asks the node that leads the metadata store for the lead, unless it is this one. */
  void takeLead() {
    String unused = ask(Erlang.LEAD_METADATA);
  }

  /** The name of the node that leads the metadata store, as far as this one knows; else nothing. */
  String knownLeader() {
    return ask(Erlang.METADATA_LEADER);
  }

  String ask(String expressions) {
    try {
      return control.eval(expressions);
    } catch (IllegalStateException notNow) {
      return "";
    }
  }

  void close() {
    broker.close();
  }

  @Override
  public String uri() {
    return broker.uri();
  }

  @Override
  public String host() {
    return broker.host();
  }

  @Override
  public int port() {
    return broker.port();
  }

  @Override
  public BrokerVersion version() {
    return broker.version();
  }

  @Override
  public ConnectionFactory connectionFactory() {
    return broker.connectionFactory();
  }

  /**
   * The ways to hurt this node. A node that was killed while another was may need that one to
   * start.
   */
  @Override
  public BrokerFaults faults() {
    return broker.faults();
  }

  @Override
  public String toString() {
    return "node " + number + ", " + broker;
  }
}
