package io.amqplocks.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The network of one cluster: three namespaces of the kernel and the two bridges that join them,
 * made and taken away by {@code network.sh}, also when the JVM was killed.
 */
final class ClusterNetwork {

  /** What joins nodes with one another, and with the machine. */
  enum Bridge {
    PEERS("198.18."),
    CLIENTS("198.19.");

    private final String net;

    Bridge(String net) {
      this.net = net;
    }

    private String port(int node) {
      return toString() + node;
    }

    @Override
    public String toString() {
      return this == PEERS ? "peers" : "clients";
    }
  }

  private static final String READY = "ready ";
  private static final int AMQP_PORT = 5672;
  private static final int DISTRIBUTION_PORT = 25672;
  private static final int EPMD_PORT = 4369;
  private static final long CLEAN_UP_SECONDS = 10;

  private final Process keeper;
  private final int number;

  private ClusterNetwork(Process keeper, int number) {
    this.keeper = keeper;
    this.number = number;
  }

  /**
   * Makes one, in a fraction of a second.
   *
   * @throws IllegalStateException if this machine cannot, with what it said
   */
  static ClusterNetwork make() {
    try {
      Process keeper =
          new ProcessBuilder("sh", "-c", Resources.text("network.sh"), "network")
              .redirectErrorStream(true)
              .start();
      BufferedReader output = keeper.inputReader(StandardCharsets.UTF_8);
      String said = output.readLine();
      if (said == null || !said.startsWith(READY)) {
        throw new IllegalStateException(
            "No network for a cluster can be made here: "
                + (said == null ? "" : said + " ")
                + output.lines().collect(Collectors.joining(" ")));
      }
      return new ClusterNetwork(keeper, Integer.parseInt(said.substring(READY.length())));
    } catch (IOException failed) {
      throw new IllegalStateException("No network for a cluster can be made here", failed);
    }
  }

  /** Where that node lives: its clients and its peers reach it by different addresses. */
  NodePlace place(Installation installation, int node, List<Integer> all) {
    StringBuilder configuration =
        new StringBuilder("loopback_users = none\n")
            .append("cluster_formation.peer_discovery_backend = classic_config\n");
    for (int each : all) {
      configuration.append(
          "cluster_formation.classic_config.nodes.%d = %s%n".formatted(each, nodeName(each)));
    }
    return new NodePlace(
        installation,
        List.of("ip", "netns", "exec", namespace(Integer.toString(node))),
        address(Bridge.CLIENTS, node),
        address(Bridge.PEERS, node),
        nodeName(node),
        AMQP_PORT,
        DISTRIBUTION_PORT,
        EPMD_PORT,
        "amqp-locks-test-cluster-" + number,
        configuration.toString());
  }

  String nodeName(int node) {
    return "amqp-locks@" + address(Bridge.PEERS, node);
  }

  /** The number of the node of that name. */
  int number(String nodeName) {
    return Integer.parseInt(nodeName.substring(nodeName.lastIndexOf('.') + 1));
  }

  private String address(Bridge bridge, int node) {
    return bridge.net + number + "." + node;
  }

  private String namespace(String of) {
    return "amqp-locks-" + number + "-" + of;
  }

  /** Unplugs the node: what is sent to it or by it is lost, and nobody is told. */
  void cut(Bridge bridge, int node) {
    link(bridge.port(node), "nomaster");
  }

  /** Plugs the node in; it may be already. */
  void join(Bridge bridge, int node) {
    link(bridge.port(node), "master", bridge.toString());
  }

  private void link(String port, String... change) {
    try {
      List<String> command = new ArrayList<>();
      command.addAll(List.of("ip", "-n", namespace("switch"), "link", "set", port));
      command.addAll(List.of(change));
      Process ip = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(ip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (ip.waitFor() != 0) {
        throw new IllegalStateException(String.join(" ", command) + ": " + said);
      }
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run ip", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while changing the network", interrupted);
    }
  }

  /** Takes it away, with whatever process is left in it; returns when it is done. */
  void close() {
    try {
      keeper.outputWriter(StandardCharsets.UTF_8).close();
      keeper.waitFor(CLEAN_UP_SECONDS, TimeUnit.SECONDS);
    } catch (IOException gone) {
      // Nothing left to tell.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
