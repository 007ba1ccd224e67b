package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.consumer.SoleProcesses.Certain;
import io.amqplocks.consumer.SoleProcesses.Together;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
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
    BREAK_AT_THE_ACTIVE_ONES_NODE,
    BREAK_AT_THE_LOCKS_NODE,
    DEATH_OF_THE_ACTIVE_ONES_NODE
  }

  private static final Duration BREAK = Duration.ofSeconds(3);

  /** Less than the 7 s that the old holder takes by its own clock, and much for a busy machine. */
  private static final long TOLD = 3_200;

  /**
   * A quorum queue of 4.3 waits for a minute after the death of a node. An answer that was lost
   * with a leader comes 65 s late, on both lines. One may follow the other.
   */
  private static final Duration LONGEST_TAKEOVER = Duration.ofMinutes(3);

  /** How many numbers are handled in each term at least. */
  private static final int SOME = 50;

  private @Nullable Cluster started;
  private @Nullable Fixture fixture;
  private @Nullable SoleProcesses processes;
  private @Nullable Publisher publisher;
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
    chain("mutex", false, TOLD);
    chain("fenced", false, mostMillisByAToken);
    chain("mutex", true, TOLD);
  }

  private void chain(String lock, boolean twoWays, long mostMillisTogether) throws Exception {
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
    processes = new SoleProcesses(names.prefix(), queue, lock, ingress);
    publisher = new Publisher(cluster(), ingress == null ? "" : ingress, queue);
    cluster().nodes().forEach(this::process);
    for (Fault fault : Fault.values()) {
      suffer(fault, lock);
    }
    suffer(Fault.POLITE, lock);
    int messages = publisher.finish();

    await()
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofMillis(300))
        .untilAsserted(() -> assertThat(processes().unhandled(messages)).isEmpty());
    processes().close();
    assertThat(processes().certain().stream().map(Certain::process).distinct().count())
        .isGreaterThan(1);
    List<Together> together = processes().together();
    long millis = TimeUnit.NANOSECONDS.toMillis(together.stream().mapToLong(Together::nanos).sum());
    System.out.printf(
        "Sole consumer by a %s%s on three nodes of RabbitMQ %s: %d messages, %d handled twice, %d"
            + " tried again, 0 lost; two were certain for %d ms, and ended with %d messages"
            + " meanwhile%n",
        lock,
        twoWays ? " by two ways" : "",
        cluster().version(),
        messages,
        processes().handled().size() - messages,
        publisher.again(),
        millis,
        processes().handledTogether().size());
    assertThat(millis).as("%s", together).isLessThanOrEqualTo(mostMillisTogether);
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
      case BREAK_AT_THE_ACTIVE_ONES_NODE -> breakOff(nodeOf(active));
      case BREAK_AT_THE_LOCKS_NODE -> breakOff(cluster().nodeOf(lockQueue(lock)));
      case DEATH_OF_THE_ACTIVE_ONES_NODE -> {
        nodeOf(active).faults().kill();
        await().atMost(SoleProcesses.START).until(() -> SoleProcesses.ended(active) > before);
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

  private void awaitSomeHandled() {
    int handled = processes().handled().size();
    await().atMost(LONGEST_TAKEOVER).until(() -> processes().handled().size() >= handled + SOME);
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
    Fixture names = Objects.requireNonNull(fixture);
    if (lock.equals("mutex")) {
      return names.names().mutex(LockName.of("sole"));
    }
    return cluster().node(1).faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(names.prefix()) && name.contains(".tokens."))
        .findFirst()
        .orElseThrow();
  }

  /**
   * Publishes one number after the other, by any node that takes it, on a thread of its own. A
   * number that was not confirmed is published again, on another connection: if the leader of the
   * queue dies just before a channel's first message, 3.10 refuses whatever that channel publishes
   * until the node is back.
   */
  private static final class Publisher implements AutoCloseable {
    private final Cluster cluster;
    private final String exchange;
    private final String queue;
    private final Thread thread = new Thread(this::run, "publisher");
    private volatile boolean finished;
    private final AtomicInteger published = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();

    Publisher(Cluster cluster, String exchange, String queue) {
      this.cluster = cluster;
      this.exchange = exchange;
      this.queue = queue;
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      int tries = 0;
      while (!finished) {
        ClusterNode node = cluster.nodes().get(tries % cluster.nodes().size());
        tries++;
        try (Connection connection = node.connectionFactory().newConnection();
            Channel channel = connection.createChannel()) {
          channel.confirmSelect();
          boolean confirmed = true;
          while (confirmed && !finished) {
            channel.basicPublish(
                exchange,
                queue,
                MessageProperties.PERSISTENT_BASIC
                    .builder()
                    .messageId(published.toString())
                    .build(),
                published.toString().getBytes(StandardCharsets.UTF_8));
            confirmed = channel.waitForConfirms(5_000);
            (confirmed ? published : again).incrementAndGet();
            TimeUnit.MILLISECONDS.sleep(5);
          }
        } catch (IOException | TimeoutException | ShutdownSignalException retried) {
          again.incrementAndGet();
        } catch (InterruptedException closed) {
          return;
        }
      }
    }

    int again() {
      return again.get();
    }

    /** How many numbers there are, when no more are published. */
    int finish() throws InterruptedException {
      assertThat(thread.isAlive()).isTrue();
      finished = true;
      thread.join(120_000);
      assertThat(thread.isAlive()).isFalse();
      return published.get();
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }
}
