package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.consumer.SoleProcesses.Certain;
import io.amqplocks.consumer.SoleProcesses.Handled;
import io.amqplocks.consumer.SoleProcesses.Together;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerFaults;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Processes that consume a queue of numbers in turn on a cluster of three nodes, each as a client
 * of another node, while nodes lose each other and die. The messages are in a quorum queue.
 */
@Tag("rare")
@Tag("one-jdk")
@Tag("trap-10")
@Order(1) // of the longest
class TakeoverClusterTest {

  /** How a term ends, or may end. */
  private enum Fault {
    POLITE,
    KILL,
    /** Its connections are closed, that of its lock and that by which it consumes. */
    CUT,
    FREEZE,
    BREAK_AT_THE_ACTIVE_ONES_NODE,
    BREAK_AT_THE_LOCKS_NODE,
    DEATH_OF_THE_ACTIVE_ONES_NODE
  }

  private static final List<Fault> EACH_OF_NODES =
      List.of(
          Fault.POLITE,
          Fault.KILL,
          Fault.BREAK_AT_THE_ACTIVE_ONES_NODE,
          Fault.BREAK_AT_THE_LOCKS_NODE,
          Fault.DEATH_OF_THE_ACTIVE_ONES_NODE,
          Fault.POLITE);

  private static final Duration BREAK = Duration.ofSeconds(3);

  /** Pieces of a time in which two were certain are no further apart. */
  private static final long PIECE = Duration.ofMillis(250).toNanos();

  /** Less than the 7 s that the old holder takes by its own clock, and much for a busy machine. */
  private static final long TOLD = 3_200;

  /**
   * A quorum queue of 4.3 waits for a minute after the death of a node. An answer that was lost
   * with a leader comes 65 s late, on both lines. One may follow the other.
   */
  private static final Duration LONGEST_TAKEOVER = Duration.ofMinutes(3);

  /** How many numbers are handled in each term at least. */
  private static final int SOME = 50;

  /** The default of a sole consumer. */
  private static final int PREFETCH = 10;

  private @Nullable Cluster started;
  private @Nullable Fixture fixture;
  private @Nullable SoleProcesses processes;
  private @Nullable ClusterPublisher publisher;
  private final Map<ChildJvm, ClusterNode> nodes = new HashMap<>();

  @AfterEach
  void end() {
    if (publisher != null) {
      publisher.close();
    }
    if (processes != null) {
      processes.close();
    }
    if (started != null) {
      started.close();
    }
  }

  private Cluster cluster() {
    return Objects.requireNonNull(started);
  }

  private Fixture fixture() {
    return Objects.requireNonNull(fixture);
  }

  private ClusterPublisher publisher() {
    return Objects.requireNonNull(publisher);
  }

  private SoleProcesses processes() {
    return Objects.requireNonNull(processes);
  }

  private void process(ClusterNode node) {
    nodes.put(processes().start(node), node);
  }

  private ClusterNode nodeOf(ChildJvm process) {
    return Objects.requireNonNull(nodes.get(process));
  }

  /**
   * On Khepri the broker ends the old holder's consumer as it gives the lock away, or waits for a
   * minute. On Mnesia a quorum queue gives a token away untold, and the old holder finds out by its
   * own clock, after one and three quarters of a heartbeat.
   */
  @ParameterizedTest
  @CsvSource({"4.3, 3200", "3.10, 8000"})
  void nothingIsLostWhenNodesFail(String line, long mostMillisByAToken) throws Exception {
    started = Cluster.start(line);
    chain("mutex", false, EACH_OF_NODES, TOLD);
    chain("fenced", false, EACH_OF_NODES, mostMillisByAToken);
    chain("mutex", true, EACH_OF_NODES, TOLD);
  }

  /**
   * As many faults as in the chain of TakeoverTest, and those of nodes among them. It takes minutes
   * and so runs on one line, unless {@code -Dlong.chain.line=3.10} says another.
   */
  @Test
  void nothingIsLostInALongChain() throws Exception {
    started = Cluster.start(System.getProperty("long.chain.line", "4.3"));
    chain("mutex", false, fifty(), TOLD);
    // Of those that are sent ahead, ten, the acknowledgements may be lost with a connection or with
    // the leader of the queue. A node's fault ends both. What was published twice may come twice.
    long faults = fifty().stream().filter(fault -> fault != Fault.POLITE).count();
    assertThat(processes().handledTwice().filter(number -> !publisher().isAgain(number)).count())
        .isLessThanOrEqualTo(2 * PREFETCH * faults);
  }

  /** Each kind of fault, three in ten of them polite. */
  private static List<Fault> fifty() {
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      faults.add(
          switch (i % 10) {
            case 1, 6 -> Fault.KILL;
            case 3, 8 -> Fault.CUT;
            case 5 -> Fault.FREEZE;
            case 7 ->
                i % 20 == 7 ? Fault.BREAK_AT_THE_ACTIVE_ONES_NODE : Fault.BREAK_AT_THE_LOCKS_NODE;
            case 9 -> Fault.DEATH_OF_THE_ACTIVE_ONES_NODE;
            default -> Fault.POLITE;
          });
    }
    return faults;
  }

  private void chain(String lock, boolean twoWays, List<Fault> faults, long mostMillisTogether)
      throws Exception {
    Fixture names = new Fixture(cluster().node(1));
    fixture = names;
    String queue = names.prefix() + "numbers";
    @Nullable String ingress = twoWays ? names.prefix() + "ingress" : null;
    try (Connection connection = cluster().node(1).connectionFactory().newConnection()) {
      Channel channel = connection.createChannel();
      channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
      if (ingress != null) {
        channel.exchangeDeclare(ingress, "fanout", true);
        channel.queueBind(queue, ingress, "");
      }
    }
    SoleProcesses consumers = new SoleProcesses(names.prefix(), queue, lock, ingress);
    processes = consumers;
    publisher =
        new ClusterPublisher(cluster(), ingress == null ? "" : ingress, queue, consumers::numbers);
    cluster().nodes().forEach(this::process);
    for (Fault fault : faults) {
      suffer(fault, lock);
    }
    int messages = publisher().finish();

    await()
        .atMost(LONGEST_TAKEOVER.multipliedBy(2))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () -> assertThat(processes().unhandled(messages)).as(this::lastKnown).isEmpty());
    processes().close();
    assertThat(processes().certain().stream().map(Certain::process).distinct().count())
        .isGreaterThan(1);
    List<Together> together = processes().together();
    long millis = millis(together.stream().mapToLong(Together::nanos).sum());
    long longest = millis(longest(together));
    List<Handled> handled = processes().handled();
    long numbers = processes().numbers();
    System.out.printf(
        "Sole consumer by a %s%s on three nodes of RabbitMQ %s, %d faults: %d messages, %d handled"
            + " twice, %d tried again, 0 lost; two were certain for %d ms, %d at once, and ended with %d"
            + " messages meanwhile%n",
        lock,
        twoWays ? " by two ways" : "",
        cluster().version(),
        faults.size(),
        messages,
        handled.size() - numbers,
        publisher().again(),
        millis,
        longest,
        processes().handledTogether().size());
    assertThat(longest).as("%s", together).isLessThanOrEqualTo(mostMillisTogether);
  }

  /** What a process says is cut into pieces of a tenth of a second, which belong together. */
  private static long longest(List<Together> together) {
    long longest = 0;
    long from = 0;
    long to = 0;
    for (Together each : together) {
      long begin = each.other().from();
      if (longest == 0 || begin - to > PIECE) {
        from = begin;
        to = begin;
      }
      to = Math.max(to, begin + each.nanos());
      longest = Math.max(longest, to - from);
    }
    return longest;
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  /** For someone who looks for a reason. A member that lags does so on its own node only. */
  private String lastKnown() {
    return cluster().nodes().stream()
        .map(node -> "node " + node.number() + ": " + node.quorumQueues())
        .collect(Collectors.joining("\n", processes().lastSaid(), "\n"));
  }

  private void suffer(Fault fault, String lock) {
    ChildJvm active =
        fault == Fault.BREAK_AT_THE_LOCKS_NODE
            ? activeElsewhere(cluster().nodeOf(lockQueue(lock)))
            : processes().active();
    long before = SoleProcesses.ended(active);
    long start = System.nanoTime();
    switch (fault) {
      case POLITE -> handOver(active);
      case KILL -> {
        active.killNow();
        process(nodeOf(active));
      }
      case CUT -> {
        BrokerFaults faults = nodeOf(active).faults();
        // This one first: without the lock, the process closes it by itself.
        faults.closeConnections("amqp-locks consumer of " + fixture().prefix() + "numbers", "cut");
        faults.closeConnections(fixture().prefix() + active.pid() + " holder", "cut");
        awaitEnded(active, before);
      }
      case FREEZE -> {
        active.stop();
        // After three heartbeats the broker gives its lock and messages away.
        processes().awaitAnother(active);
        active.cont();
        awaitEnded(active, before);
      }
      case BREAK_AT_THE_ACTIVE_ONES_NODE -> breakOff(nodeOf(active));
      case BREAK_AT_THE_LOCKS_NODE -> breakOff(cluster().nodeOf(lockQueue(lock)));
      case DEATH_OF_THE_ACTIVE_ONES_NODE -> {
        nodeOf(active).faults().kill();
        awaitEnded(active, before);
        if (lock.equals("fenced")) {
          // Both queues have a majority, while a mutex may have been on that node.
          awaitSomeHandled();
        }
        nodeOf(active).faults().start();
        cluster().heal();
      }
    }
    // Whoever it is, something is handled in each term.
    awaitSomeHandled();
    System.out.printf(
        "%s: node %d was active, then node %d, %.1f s%n",
        fault,
        nodeOf(active).number(),
        nodeOf(processes().active()).number(),
        (System.nanoTime() - start) / 1e9);
  }

  private static void awaitEnded(ChildJvm active, long before) {
    await().atMost(SoleProcesses.START).until(() -> SoleProcesses.ended(active) > before);
  }

  private void awaitSomeHandled() {
    long handled = processes().numbers();
    await()
        .atMost(LONGEST_TAKEOVER)
        .pollInterval(Duration.ofMillis(200))
        .until(() -> processes().numbers() >= handled + SOME);
  }

  /** Has them hand over until the active one is a client of another node than that. */
  private ChildJvm activeElsewhere(ClusterNode node) {
    ChildJvm active = processes().active();
    while (nodeOf(active) == node) {
      handOver(active);
      active = processes().active();
    }
    return active;
  }

  private static void handOver(ChildJvm active) {
    long before = SoleProcesses.ended(active);
    active.send("hand over");
    // It may have ended before that was counted.
    await()
        .atMost(SoleProcesses.START)
        .until(() -> SoleProcesses.ended(active) > before || !SoleProcesses.isActive(active));
  }

  private void breakOff(ClusterNode node) {
    cluster().breakOffFromPeers(node);
    // It is the length of a fault, and nothing to wait for.
    Awaitility.await().pollDelay(BREAK).atMost(BREAK.multipliedBy(2)).until(() -> true);
    node.reconnect();
    cluster().heal();
  }

  private String lockQueue(String lock) {
    Fixture names = fixture();
    if (lock.equals("mutex")) {
      return names.names().mutex(LockName.of("sole"));
    }
    return cluster().node(1).faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(names.prefix()) && name.contains(".tokens."))
        .findFirst()
        .orElseThrow();
  }
}
