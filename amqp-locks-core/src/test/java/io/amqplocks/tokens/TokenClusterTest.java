package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What becomes of a quorum queue's tokens when the node that their holder is connected to is cut
 * off from the others: they miss it after a minute or so (net_ticktime), and from 4.3 on wait
 * another minute (consumer-disconnected-timeout) before they give its tokens to others; the holder
 * has long let go by then. The second minute is shortened here, unless the system property {@code
 * amqp-locks.disconnected-seconds} says otherwise.
 */
@Tag("trap-10")
@Tag("one-jdk")
@Order(1) // of the longest
class TokenClusterTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(4);

  /** Of a heartbeat: one and three quarters, and much for a busy machine. */
  private static final Duration CERTAIN = Duration.ofSeconds(20);

  private static final Duration DISCONNECTED =
      Duration.ofSeconds(Integer.getInteger("amqp-locks.disconnected-seconds", 10));

  private static final Duration LONGEST = Duration.ofMinutes(4);

  private static Cluster cluster;

  private Fixture fixture;

  @BeforeAll
  static void start() {
    cluster = Cluster.start();
  }

  @BeforeEach
  void fixture() {
    fixture = new Fixture(cluster.node(1));
  }

  @AfterEach
  void heal() throws Exception {
    cluster.heal();
    fixture.close();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private AmqpLocks on(ClusterNode node) {
    return fixture.open(
        fixture.builder(node.connectionFactory()).heartbeat(HEARTBEAT).callTimeout(HEARTBEAT));
  }

  /** One token of each semaphore, held where it is cut off, and wanted by the others. */
  private static final class Token {
    final String name;
    final Lease held;
    final CompletableFuture<Lease> wanted;
    final CompletableFuture<LeaseState> then;

    Token(String name, Lease held, CompletableFuture<Lease> wanted) {
      this.name = name;
      this.held = held;
      this.wanted = wanted;
      then = wanted.thenApply(next -> held.state());
    }
  }

  /** Made with more patience than the locks have that are watched. */
  private Token token(String name, ClusterNode maker, AmqpLocks alone, AmqpLocks others) {
    TokenSemaphoreAdmin admin =
        fixture.open(fixture.builder(maker.connectionFactory())).admin().tokenSemaphore(name);
    int unused =
        await()
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(() -> admin.createIfAbsent(1, TokenQueueType.QUORUM), slots -> slots == 1);
    // Opens its connection, without which a wait ends at the first failure.
    Fixture.first(others.tokenSemaphore(name).fenced()).close();
    Lease held = Fixture.first(alone.tokenSemaphore(name).fenced());
    return new Token(name, held, others.tokenSemaphore(name).fenced().acquireAsync(LONGEST));
  }

  @Test
  void theOthersHaveItOnlyWhenItsHolderHasLongLetGo() throws Exception {
    ClusterNode node = cluster.node(1);
    String timeout = "{\"consumer-disconnected-timeout\":%d}".formatted(DISCONNECTED.toMillis());
    // By a node that can take it back as soon as the cut is over.
    cluster
        .node(2)
        .faults()
        .setPolicy("disconnected", ".*\\.tokens\\..*", "quorum_queues", timeout);
    AmqpLocks alone = on(node);
    AmqpLocks others = on(cluster.node(2));
    List<Token> tokens = new ArrayList<>();
    // A queue is led by the node where it was made: by the one that is cut off, and by another.
    tokens.add(token("near", node, alone, others));
    tokens.add(token("far", cluster.node(2), alone, others));
    await().pollDelay(Duration.ofMillis(500)).until(() -> others.status().waiting() == 2);

    node.cutOffFromPeers();
    long start = System.nanoTime();

    for (Token token : tokens) {
      await(token.name)
          .pollInterval(Duration.ofMillis(20))
          .atMost(CERTAIN)
          .until(() -> token.held.state() != LeaseState.HELD);
    }
    for (Token token : tokens) {
      await(token.name)
          .atMost(Duration.ofSeconds(30))
          .until(() -> token.held.state() == LeaseState.LOST);
      System.out.printf(
          "%s: lost %.1f s after the cut: %s%n",
          token.name, (System.nanoTime() - start) / 1e9, token.held.lossReason());
    }
    for (Token token : tokens) {
      Lease next = token.wanted.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
      Duration since = Duration.ofNanos(System.nanoTime() - start);
      System.out.printf("%s: the others have it %s after the cut%n", token.name, since);
      assertThat(token.then.get(30, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
      assertThat(since).isGreaterThan(DISCONNECTED);
      assertThat(next.fencingToken().isAfter(token.held.fencingToken())).isTrue();
    }

    cluster.heal();

    for (Token token : tokens) {
      assertThat(token.held.state()).isEqualTo(LeaseState.LOST);
      healed(() -> assertThat(token.wanted.join().verify()).isEqualTo(LeaseState.HELD));
      healed(() -> assertThat(alone.tokenSemaphore(token.name).tryAcquire()).isEmpty());
      token.wanted.join().close();
      healed(
          () ->
              assertThat(Tokens.audit(others.admin().tokenSemaphore(token.name)))
                  .isEqualTo(new TokenAudit(1, 1, 0, 0, Set.of(), false)));
    }
  }

  /**
   * After a cut nodes take up to half a minute to find each other again, and calls end unanswered.
   */
  private static void healed(ThrowingRunnable check) {
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreExceptionsInstanceOf(LockException.class)
        .untilAsserted(check);
  }
}
