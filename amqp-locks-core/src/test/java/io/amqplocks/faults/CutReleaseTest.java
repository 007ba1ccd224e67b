package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Rivalries;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The nodes of a cluster lose each other in the middle of the release of quorum tokens: the queue
 * has cancelled the consumer, and has not received the message back. A client that follows the
 * protocol step by step does that, because the library takes no time between the two steps.
 */
@Tag("rare")
@Tag("one-jdk")
@Tag("trap-24")
@Order(1) // of the longest
class CutReleaseTest {

  private static final int SEMAPHORES = 4;

  /** A queue that has another leader meanwhile takes all back. */
  private static final int CUTS = 3;

  private static final Duration BREAK = Duration.ofSeconds(3);

  private static final Duration SOON = Duration.ofSeconds(20);

  /** A channel that asked a leader that is gone goes on after 65 s, and may then ask again. */
  private static final Duration LATE = Duration.ofSeconds(150);

  @Test
  void upTo42TheTokenStaysAwayUntilTheSemaphoreIsRepaired() throws Exception {
    try (Cluster cluster = Cluster.start("3.10");
        AmqpLocks locks = locksOf(cluster.node(2))) {
      List<String> stuck = List.of();
      for (int cut = 0; cut < CUTS && stuck.isEmpty(); cut++) {
        List<String> names = create(locks, "cut" + cut);
        // At its end the client's node has started anew, so nothing comes late from there.
        cutReleases(cluster, names).abort(1_000);
        stuck = names.stream().filter(name -> !isFreeWithin(SOON, locks, name)).toList();
      }
      assertThat(stuck).as("busy, and held by nobody").isNotEmpty();
      for (String name : stuck) {
        TokenAudit unused = Tokens.repaired(locks.admin().tokenSemaphore(name), LATE);
        assertThat(isFreeWithin(SOON, locks, name)).as(name + " is free").isTrue();
        Awaitility.await()
            .atMost(LATE)
            .ignoreExceptionsInstanceOf(LockException.class)
            .untilAsserted(
                () ->
                    assertThat(locks.admin().tokenSemaphore(name).audit(Duration.ZERO))
                        .isEqualTo(new TokenAudit(1, 1, 0, 0, Set.of(), false)));
      }
    }
  }

  @Test
  void from43OnTheTokenComesBackWhileTheConnectionIsOpen() throws Exception {
    try (Cluster cluster = Cluster.start("4.3");
        AmqpLocks locks = locksOf(cluster.node(2))) {
      List<String> names = create(locks, "cut");
      Connection connection = cutReleases(cluster, names);
      try {
        assertThat(names).allMatch(name -> isFreeWithin(LATE, locks, name));
      } finally {
        connection.abort(1_000);
      }
    }
  }

  /** Calls may end unanswered for some time after a cut, and that does not say that it is busy. */
  private static boolean isFreeWithin(Duration time, AmqpLocks locks, String name) {
    long end = System.nanoTime() + time.toNanos();
    boolean busy = false;
    while (end + (busy ? 0 : LATE.toNanos()) - System.nanoTime() > 0) {
      try {
        locks.tokenSemaphore(name).acquire(Duration.ofSeconds(1)).close();
        return true;
      } catch (LockException notYet) {
        assertThat(notYet)
            .matches(e -> e instanceof LockException.AcquireTimeout || isUnanswered(e));
        busy = notYet instanceof LockException.AcquireTimeout;
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return false;
  }

  /** Or the connection was ended, as by a queue that has no leader. */
  private static boolean isUnanswered(LockException e) {
    return e instanceof LockException.Unanswered || e.isOutage();
  }

  private static AmqpLocks locksOf(ClusterNode node) {
    return AmqpLocks.builder(node.connectionFactory()).queuePrefix("cut-release.").build();
  }

  /** With one slot each. Their queues are led from the node where they are declared. */
  private static List<String> create(AmqpLocks locks, String prefix) {
    List<String> names =
        IntStream.range(0, SEMAPHORES).mapToObj(number -> prefix + "-" + number).toList();
    for (String name : names) {
      // The cluster has just come together.
      int unused =
          Awaitility.await()
              .atMost(LATE)
              .ignoreExceptionsInstanceOf(LockException.class)
              .until(
                  () -> locks.admin().tokenSemaphore(name).createIfAbsent(1, TokenQueueType.QUORUM),
                  slots -> slots == 1);
    }
    return names;
  }

  /**
   * When this returns, nobody holds one of the semaphores, and all nodes see each other.
   *
   * @return the connection that released them
   */
  private static Connection cutReleases(Cluster cluster, List<String> names) throws Exception {
    ClusterNode holders = cluster.node(1);
    ConnectionFactory factory = holders.connectionFactory();
    factory.setRequestedHeartbeat(60);
    Connection connection = factory.newConnection("cut-release");
    List<Held> held = new ArrayList<>();
    for (String name : names) {
      held.add(hold(connection, tokenQueue(cluster.node(2), name)));
    }
    for (Held each : held) {
      // Returns when the queue has cancelled it.
      each.channel().basicCancel(each.tag());
    }
    holders.cutOffFromPeers();
    for (Held each : held) {
      each.channel().basicNack(each.message().getEnvelope().getDeliveryTag(), false, true);
    }
    cluster.breakOffFromPeers(holders);
    Rivalries.pass(BREAK);
    cluster.heal();
    return connection;
  }

  private record Held(Channel channel, String tag, Delivery message) {}

  private static Held hold(Connection connection, String queue)
      throws IOException, InterruptedException {
    Channel channel = connection.createChannel();
    channel.basicQos(1);
    BlockingQueue<Delivery> arrived = new LinkedBlockingQueue<>();
    String tag =
        channel.basicConsume(queue, false, (same, message) -> arrived.add(message), same -> {});
    Delivery message = arrived.poll(20, TimeUnit.SECONDS);
    assertThat(message).as("the token in " + queue).isNotNull();
    return new Held(channel, tag, message);
  }

  private static String tokenQueue(ClusterNode node, String name) {
    return node.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.contains(name + ".tokens."))
        .findFirst()
        .orElseThrow();
  }
}
