package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.Contest.Term;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Rivalries;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Elections on a cluster of three nodes, each as a client of another node, while nodes lose each
 * other and die. Each fault is at the node of the leader; two locks suffer it at the same time, and
 * each lease has a session of its own.
 */
@Tag("rare")
@Tag("one-jdk")
@Tag("trap-10")
@Order(1) // of the longest
class LeaderClusterTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(4);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

  /**
   * One and three quarters of a heartbeat, by the leader's own clock. A busy machine does not
   * prolong it. By missed heartbeats it would be 8 s at least.
   */
  private static final Duration DOUBT = Duration.ofMillis(7_200);

  private static final Duration BREAK = Duration.ofSeconds(3);

  /** For whoever waits at the broker, when nothing is broken. */
  private static final Duration SOON = Duration.ofSeconds(30);

  /**
   * A quorum queue of 4.3 waits for a minute after the death of a node. An answer that was lost
   * with a leader comes 65 s late, on both lines. One may follow the other.
   */
  private static final Duration LONGEST_TAKEOVER = Duration.ofSeconds(150);

  private @Nullable Cluster started;
  private @Nullable Fixture fixture;
  private final List<Contest> contests = new ArrayList<>();

  @AfterEach
  void end() {
    contests.forEach(Contest::close);
    if (fixture != null) {
      fixture.closeLocks();
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

  private Contest contest(String name, Function<AmqpLocks, AmqpLock> lock) {
    TreeMap<Integer, AmqpLock> locks = new TreeMap<>();
    for (ClusterNode node : cluster().nodes()) {
      AmqpLocks session =
          fixture()
              .open(
                  fixture()
                      .builder(node.connectionFactory())
                      .heartbeat(HEARTBEAT)
                      .callTimeout(CALL_TIMEOUT)
                      .verifyEvery(CALL_TIMEOUT));
      locks.put(node.number(), lock.apply(session));
    }
    Contest contest = new Contest(name, locks);
    contests.add(contest);
    return contest;
  }

  /**
   * The holder of a mutex is told as the broker gives it away. On 4.3 the broker gives away no
   * token of a quorum queue untold. On 3.10 it does, and the holder finds out by its own clock.
   */
  @ParameterizedTest
  @CsvSource({"4.3, 0", "3.10, 7200"})
  void oneLeadsAfterEachFault(String line, long mostMillisByAToken) {
    started = Cluster.start(line);
    fixture = new Fixture(cluster().node(1));
    Contest mutex = contest("mutex", locks -> locks.mutex("m"));
    Contest fenced = contest("fenced mutex", locks -> locks.fencedMutex("f"));
    awaitOneLeader(SOON.multipliedBy(2));

    suffer("a yield", away(), this::giveUp);
    suffer("a break of 3 s at the mutex's node", home(), this::breakOff);
    suffer("a break of 3 s at another node", away(), this::breakOff);
    suffer("a silence at another node", away(), this::silence);
    ClusterNode dead = away();
    suffer("the death of another node", dead, this::die);
    // Its clients contend again.
    contests.forEach(each -> lead(each, dead));

    contests.forEach(Contest::close);
    report();
    assertThat(contests).allSatisfy(each -> assertThat(each.revokedEarly()).isEmpty());
    assertThat(fenced.terms()).hasSizeGreaterThanOrEqualTo(5);
    for (int i = 1; i < fenced.terms().size(); i++) {
      assertThat(fenced.terms().get(i).token())
          .as("%s", fenced.terms())
          .isGreaterThan(fenced.terms().get(i - 1).token());
    }
    assertThat(together(fenced))
        .as("%s", fenced.overlaps())
        .isLessThanOrEqualTo(mostMillisByAToken);
    assertThat(together(mutex)).as("%s", mutex.overlaps()).isLessThanOrEqualTo(3_200);
  }

  private void report() {
    for (Contest each : contests) {
      System.out.printf(
          "Elections by a %s on three nodes of RabbitMQ %s: %d terms, two were certain for %d ms%n",
          each, cluster().version(), each.terms().size(), together(each));
    }
  }

  /** The longest. */
  private static long together(Contest contest) {
    return contest.overlaps().stream()
        .mapToLong(each -> TimeUnit.NANOSECONDS.toMillis(each.nanos()))
        .max()
        .orElse(0);
  }

  /** Where the queue of the mutex is. */
  private ClusterNode home() {
    return cluster().nodeOf(fixture().names().mutex(LockName.of("m")));
  }

  /** Where it is not. */
  private ClusterNode away() {
    return cluster().others(home()).get(0);
  }

  /** Has clients of that node lead, does that to it, and waits until one leads by each lock. */
  private void suffer(String what, ClusterNode node, Consumer<ClusterNode> fault) {
    contests.forEach(each -> lead(each, node));
    long start = System.nanoTime();
    fault.accept(node);
    awaitOneLeader(LONGEST_TAKEOVER);
    for (Contest each : contests) {
      System.out.printf("After %s, by a %s: %s%n", what, each, outcome(each, node, start));
    }
  }

  private static String outcome(Contest contest, ClusterNode node, long start) {
    int leader = contest.leading().stream().findFirst().orElse(node.number());
    return contest.terms().stream()
        .filter(each -> each.from() > start)
        .map(each -> "node %d led after %.1f s".formatted(each.number(), each.seconds(start)))
        .reduce((one, other) -> one + ", " + other)
        .orElse("node " + leader + " led on");
  }

  private static void lead(Contest contest, ClusterNode node) {
    await()
        .atMost(LONGEST_TAKEOVER)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              boolean there = contest.leading().equals(List.of(node.number()));
              if (!there) {
                contest.yieldLeadership();
              }
              return there;
            });
  }

  private void awaitOneLeader(Duration bound) {
    await()
        .atMost(bound)
        .untilAsserted(
            () ->
                assertThat(contests)
                    .allSatisfy(each -> assertThat(each.leading()).as("%s", each).hasSize(1)));
  }

  /** The others wait already, so one of them is next. */
  private void giveUp(ClusterNode node) {
    contests.forEach(Contest::yieldLeadership);
    awaitAnother(node, SOON);
  }

  private void awaitAnother(ClusterNode node, Duration bound) {
    await()
        .atMost(bound)
        .untilAsserted(
            () ->
                assertThat(contests)
                    .allSatisfy(
                        each ->
                            assertThat(each.leading())
                                .as("%s", each)
                                .hasSize(1)
                                .doesNotContain(node.number())));
  }

  private void breakOff(ClusterNode node) {
    cluster().breakOffFromPeers(node);
    Rivalries.pass(BREAK);
    node.reconnect();
    cluster().heal();
  }

  /** Until its clients do not say any more that they lead, which nobody tells them. */
  private void silence(ClusterNode node) {
    node.cutOff();
    assertDoubt(node);
    node.reconnect();
    cluster().heal();
  }

  /** The queue of the mutex is elsewhere, and that of the fenced one has a majority. */
  private void die(ClusterNode node) {
    node.faults().kill();
    assertDoubt(node);
    awaitAnother(node, LONGEST_TAKEOVER);
    node.faults().start();
    cluster().heal();
  }

  /** From now on nothing is confirmed to that node's clients. */
  private void assertDoubt(ClusterNode node) {
    long start = System.nanoTime();
    for (Contest each : contests) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> assertThat(each.leading()).as("%s", each).doesNotContain(node.number()));
      Term last = each.lastOf(node.number()).orElseThrow();
      assertThat(Duration.ofNanos(last.until() - start))
          .as("how long node %d led on by a %s", node.number(), each)
          .isLessThan(DOUBT);
    }
  }
}
