package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Rivalries;
import io.amqplocks.support.Rivalry;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What holders say when the nodes of a cluster lose each other for a time and their clients notice
 * nothing: the broker may give away what somebody holds, and tells nobody.
 *
 * <p>It is node 1 that loses the others. The old holder is its client ({@code holder}), or its
 * queue is there ({@code queue}), or both; the one that wants the lock is a client of node 3. A cut
 * of 3 s is made at each run, the other lengths when there is time for them.
 */
@Tag("trap-10")
@Tag("defect-S1")
@Tag("defect-S2")
@Tag("one-jdk")
@TestInstance(Lifecycle.PER_CLASS)
abstract class FlapContract {

  private static final Duration HEARTBEAT = Duration.ofSeconds(2);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

  /** Where the broker tells: less than the 3.5 s that a holder takes by its own clock. */
  private static final Duration TOLD = Duration.ofMillis(3_200);

  /** Where it does not: one and three quarters of a heartbeat, and much for a busy machine. */
  private static final Duration NOT_TOLD = Duration.ofSeconds(5);

  /** Longer than that: who does not notice goes on beyond it. */
  private static final Duration FIRST_HOLD = Duration.ofMillis(6_500);

  /** In which the other one gets it, gives it back, and takes it again. */
  private static final Duration AFTER = Duration.ofSeconds(9);

  /** A channel that asked a leader that is gone goes on after 65 s, and may then ask again. */
  private static final Duration LATE = Duration.ofSeconds(150);

  private final String line;
  private @Nullable Cluster started;

  /** Whether the cluster will not come together again, so that no other test can use it. */
  private boolean wornOut;

  private Rivalries all = new Rivalries(FIRST_HOLD);

  /** Set before each test, by an annotation that NullAway does not know. */
  @SuppressWarnings("NullAway.Init")
  private Fixture fixture;

  FlapContract(String line) {
    this.line = line;
  }

  @BeforeAll
  void start() {
    started = Cluster.start(line);
  }

  @AfterAll
  void stop() {
    if (started != null) {
      started.close();
    }
  }

  final Cluster cluster() {
    return Objects.requireNonNull(started);
  }

  @BeforeEach
  void fixture() {
    if (started == null) {
      start();
    }
    all = new Rivalries(FIRST_HOLD);
    fixture = new Fixture(cluster().node(3));
  }

  @AfterEach
  void heal() throws Exception {
    boolean healed = false;
    try {
      all.close();
      if (!wornOut) {
        cluster().heal();
        fixture.close();
        healed = true;
      }
    } finally {
      // One that does not heal is no cluster for the next test either.
      if (!healed) {
        throwAway();
      }
    }
  }

  /** Kills the nodes. Nothing of theirs needs to be deleted. */
  private void throwAway() {
    wornOut = false;
    try {
      fixture.closeLocks();
    } finally {
      stop();
      started = null;
    }
  }

  final AmqpLocks on(int node) {
    return fixture.open(builder(node));
  }

  /** Whoever waits fails at once if it was never connected, as within a call timeout. */
  final AmqpLocks connectedOn(int node) {
    return fixture.connected(builder(node));
  }

  private AmqpLocksBuilder builder(int node) {
    return fixture
        .builder(cluster().node(node).connectionFactory())
        .heartbeat(HEARTBEAT)
        .callTimeout(CALL_TIMEOUT)
        .verifyEvery(CALL_TIMEOUT);
  }

  private Duration notToldOnMnesia() {
    return onMnesia() ? NOT_TOLD : TOLD;
  }

  private AmqpLocks maker(int node) {
    return fixture.open(fixture.builder(cluster().node(node).connectionFactory()));
  }

  /** Where each side of a cut may go on as if it were alone. */
  abstract boolean onMnesia();

  private void tokens(TokenQueueType type, Duration bound) {
    AmqpLocks first = on(1);
    AmqpLocks second = on(2);
    AmqpLocks third = on(3);
    AmqpLocks firstMaker = maker(1);
    AmqpLocks secondMaker = maker(2);
    for (boolean pushed : new boolean[] {false, true}) {
      // A queue is where its maker is connected, and a quorum queue is led from there.
      tokens(type, bound, pushed, "holder", secondMaker, first, third);
      tokens(type, bound, pushed, "queue", firstMaker, second, third);
      tokens(type, bound, pushed, "both", firstMaker, first, third);
    }
  }

  private void tokens(
      TokenQueueType type,
      Duration bound,
      boolean pushed,
      String place,
      AmqpLocks maker,
      AmqpLocks old,
      AmqpLocks other) {
    String kind = type.name().toLowerCase(Locale.ROOT);
    String name = kind + (pushed ? "-pushed-" : "-got-") + place;
    all.add(
        name,
        bound,
        old.tokenSemaphore(name),
        other.tokenSemaphore(name),
        type == TokenQueueType.QUORUM,
        pushed,
        () -> make(() -> maker.admin().tokenSemaphore(name).createIfAbsent(1, type)));
  }

  /** Many are made at once, on nodes with one scheduler each. */
  private static void make(Callable<Integer> making) {
    int unused =
        Awaitility.await()
            .atMost(Duration.ofMinutes(1))
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(making, made -> true);
  }

  private int created(AmqpLocks maker, String name) {
    fixture.create(maker, name, 1);
    return 1;
  }

  private int enabled(AmqpLocks maker, String name) {
    fixture.enable(maker, name);
    return 1;
  }

  /** A mutex's queue is where its first user is connected. */
  private void mutexes(Duration bound) {
    AmqpLocks first = on(1);
    AmqpLocks second = on(2);
    AmqpLocks third = on(3);
    AmqpLocks firstMaker = maker(1);
    AmqpLocks secondMaker = maker(2);
    for (boolean pushed : new boolean[] {false, true}) {
      mutex(bound, pushed, "holder", secondMaker, first, third);
      mutex(bound, pushed, "queue", firstMaker, second, third);
      mutex(bound, pushed, "both", firstMaker, first, third);
    }
  }

  private void mutex(
      Duration bound,
      boolean pushed,
      String place,
      AmqpLocks maker,
      AmqpLocks old,
      AmqpLocks other) {
    String name = "mutex-" + (pushed ? "pushed-" : "got-") + place;
    all.add(
        name,
        bound,
        old.mutex(name),
        other.mutex(name),
        false,
        pushed,
        () -> Fixture.first(maker.mutex(name)).close());
  }

  /**
   * Held from another node than the queue's by clients that verify every half minute. So none of
   * them finds out for as long as we look, and both would say HELD for the whole first hold.
   */
  private void toldMutexes() {
    AmqpLocks old = fixture.open(fixture.seldomVerifying(cluster().node(1).connectionFactory()));
    AmqpLocks maker = maker(2);
    AmqpLocks other = on(3);
    mutex(TOLD, false, "told-holder", maker, old, other);
    mutex(TOLD, true, "told-holder", maker, old, other);
  }

  /** By exclusive queues and consumers; of sessions of their own, since a declare may end one. */
  private void queues() {
    AmqpLocks first = on(1);
    AmqpLocks second = on(2);
    AmqpLocks third = on(3);
    AmqpLocks firstMaker = maker(1);
    AmqpLocks secondMaker = maker(2);
    // On Mnesia both own a queue of that name, each on its side, for as long as they like.
    Duration bound = onMnesia() ? null : TOLD;
    all.add(
        "exclusive-queue mutex",
        bound,
        first.exclusiveQueueMutex("m"),
        third.exclusiveQueueMutex("m"),
        false,
        false,
        () -> {});
    all.add(
        "slot",
        bound,
        first.slotSemaphore("s"),
        third.slotSemaphore("s"),
        false,
        false,
        () -> make(() -> created(secondMaker, "s")));
    all.add(
        "persistent-holder",
        TOLD,
        first.persistentMutex("h"),
        third.persistentMutex("h"),
        false,
        false,
        () -> make(() -> enabled(secondMaker, "h")));
    all.add(
        "persistent-queue",
        TOLD,
        second.persistentMutex("q"),
        third.persistentMutex("q"),
        false,
        false,
        () -> make(() -> enabled(firstMaker, "q")));
  }

  /** A reader that a writer follows, and a writer that a reader follows. */
  private void readWriteLocks(Duration bound) {
    AmqpLocks first = on(1);
    AmqpLocks second = on(2);
    AmqpLocks third = on(3);
    AmqpLocks firstMaker = maker(1);
    AmqpLocks secondMaker = maker(2);
    readWriteLocks(bound, "holder", secondMaker, first, third);
    readWriteLocks(bound, "queue", firstMaker, second, third);
    readWriteLocks(bound, "both", firstMaker, first, third);
  }

  private void readWriteLocks(
      Duration bound, String place, AmqpLocks maker, AmqpLocks old, AmqpLocks other) {
    String read = "read-" + place;
    all.add(
        read,
        bound,
        old.readWriteLock(read).readLock(),
        other.readWriteLock(read).writeLock(),
        false,
        false,
        () -> Fixture.first(maker.readWriteLock(read).writeLock()).close());
    String write = "write-" + place;
    all.add(
        write,
        bound,
        old.readWriteLock(write).writeLock(),
        other.readWriteLock(write).readLock(),
        false,
        false,
        () -> Fixture.first(maker.readWriteLock(write).writeLock()).close());
  }

  private String queueOf(Rivalry tokens) {
    if (tokens.name().startsWith("read-") || tokens.name().startsWith("write-")) {
      return fixture.names().readWrite(LockName.of(tokens.name()));
    }
    if (tokens.name().startsWith("mutex-")) {
      return fixture.names().mutex(LockName.of(tokens.name()));
    }
    String one = fixture.names().tokens(LockId.tokenSemaphore(tokens.name()), 1);
    String family = one.substring(0, one.length() - 1);
    return cluster().node(1).faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.startsWith(family))
        .findFirst()
        .orElseThrow();
  }

  private void assertPlaced() {
    for (Rivalry each : all.rivalries()) {
      int home = each.name().endsWith("-holder") ? 2 : 1;
      assertThat(cluster().nodeOf(queueOf(each))).as(each.name()).isSameAs(cluster().node(home));
    }
  }

  private void watch(
      String what, Runnable hurt, Duration span, Runnable mend, Predicate<String> change)
      throws Exception {
    all.watch(
        "%s, RabbitMQ %s".formatted(what, cluster().version()),
        () -> {
          hurt.run();
          Rivalries.pass(span);
          mend.run();
          all.awaitChangedHands(change);
          Rivalries.pass(AFTER);
          return null;
        });
  }

  @Test
  void afterABreakBetweenNodes() throws Exception {
    breakFor(3);
  }

  @Tag("rare")
  @ParameterizedTest
  @ValueSource(ints = {1, 10, 25})
  void afterOtherBreaksBetweenNodes(int seconds) throws Exception {
    breakFor(seconds);
  }

  private void breakFor(int seconds) throws Exception {
    Duration span = Duration.ofSeconds(seconds);
    toldMutexes();
    flap("A break", span, cluster()::breakOffFromPeers, changingAfter(seconds));
  }

  /** Which of them change hands, without which a break would not have shown anything. */
  final Predicate<String> changingAfter(int seconds) {
    return name ->
        name.endsWith("-holder")
            && (name.startsWith("classic")
                || name.startsWith("mutex")
                || name.startsWith("read-")
                || name.startsWith("write-")
                // After a shorter break a quorum queue may answer nobody for as long as we look.
                || (onMnesia() && seconds >= 3));
  }

  /** Nobody notices it for most of the time. */
  @Tag("rare")
  @Test
  void afterALongSilenceBetweenNodes() throws Exception {
    flap("A silence", Duration.ofSeconds(70), ClusterNode::cutOffFromPeers, name -> false);
  }

  final void flap(String what, Duration span, Consumer<ClusterNode> cut, Predicate<String> change)
      throws Exception {
    watchFlap(what, span, cut, change);
    all.close();
    cluster().heal();
    // Exclusive queues may stay with the dead: see GUARANTEES.
    all.assertFree(
        name ->
            name.startsWith("classic-")
                || name.startsWith("mutex-")
                || name.startsWith("read-")
                || name.startsWith("write-"));
    assertQuorumTokensFree();
  }

  /**
   * The broker may carry out a release more than a minute late. Before 4.3 it may lose one that the
   * break has cut in two (trap 24). Such a token is away until an operator's {@code repair}.
   */
  private void assertQuorumTokensFree() throws Exception {
    try {
      all.assertFree(name -> name.startsWith("quorum-"), LATE);
    } catch (AssertionError stuck) {
      System.out.println("As node 3 sees it: " + cluster().node(3).quorumQueues());
      if (!onMnesia()) {
        throw stuck;
      }
      System.out.println(stuck.getMessage());
      AmqpLocks operator = maker(3);
      for (Rivalry each : all.rivalries()) {
        if (each.name().startsWith("quorum-")) {
          var unused = Tokens.repaired(operator.admin().tokenSemaphore(each.name()), LATE);
          operator.tokenSemaphore(each.name()).acquire(LATE).close();
        }
      }
    }
  }

  /**
   * As {@link #flap}, on a cluster that does not come together again after so long a break. Its
   * link heals, and the same is asserted of its clients. Then it is thrown away.
   */
  final void lastFlap(
      String what, Duration span, Consumer<ClusterNode> cut, Predicate<String> change)
      throws Exception {
    wornOut = true;
    watchFlap(what, span, cut, change);
  }

  private void watchFlap(
      String what, Duration span, Consumer<ClusterNode> cut, Predicate<String> change)
      throws Exception {
    ClusterNode node = cluster().node(1);
    tokens(TokenQueueType.CLASSIC, TOLD);
    tokens(TokenQueueType.QUORUM, notToldOnMnesia());
    mutexes(TOLD);
    readWriteLocks(TOLD);
    all.take();
    assertPlaced();
    queues();
    all.take();
    watch(
        "%s of %d s".formatted(what, span.toSeconds()),
        () -> cut.accept(node),
        span,
        node::reconnect,
        change);
    all.assertHonest();
    all.assertChangedHands(change);
    assertHoldersWereTold();
  }

  /** The broker ended their consumers, and by nothing else did they lose what they held. */
  private void assertHoldersWereTold() {
    for (Rivalry each : all.rivalries()) {
      if (each.name().endsWith("-told-holder")) {
        assertThat(each.old().lossReason())
            .as(each.name())
            .hasValueSatisfying(
                reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.REVOKED));
      }
    }
  }

  @Test
  void afterACrashOfTheQueuesProcess() throws Exception {
    tokens(TokenQueueType.CLASSIC, TOLD);
    tokens(TokenQueueType.QUORUM, TOLD);
    mutexes(TOLD);
    toldMutexes();
    readWriteLocks(TOLD);
    all.take();
    assertPlaced();
    watch(
        "A crash of the queue's process",
        () -> {
          for (Rivalry each : all.rivalries()) {
            int home = each.name().endsWith("-holder") ? 2 : 1;
            cluster().node(home).faults().crashQueue(queueOf(each));
          }
        },
        Duration.ZERO,
        () -> {},
        name -> !name.startsWith("quorum-"));
    all.assertHonest();
    all.assertChangedHands(name -> !name.startsWith("quorum-"));
    assertHoldersWereTold();
    all.close();
    all.assertFree(name -> !name.startsWith("quorum-"));
    all.assertFree(name -> name.startsWith("quorum-"), LATE);
  }

  /**
   * Or a queue's node could give away what a holder on another one is still certain of, though both
   * only do not hear of each other.
   */
  @Test
  void holdersDoubtLongBeforeNodesMissOneAnother() {
    // One and three quarters of the default heartbeat, as OPERATIONS says.
    Duration certain = Duration.ofMillis(17_500);
    for (ClusterNode each : cluster().nodes()) {
      Duration tick = each.netTickTime();
      assertThat(tick).isEqualTo(Duration.ofMinutes(1));
      assertThat(tick.multipliedBy(3).dividedBy(4)).isGreaterThan(certain.multipliedBy(2));
    }
  }

  /** One case of tokens at each place, watched while something is done to the cluster. */
  final void watchClassicTokens(String what, Runnable hurt, Predicate<String> change)
      throws Exception {
    tokens(TokenQueueType.CLASSIC, NOT_TOLD);
    all.take();
    assertPlaced();
    watch(what, hurt, Duration.ZERO, () -> {}, change);
    all.assertHonest();
    all.assertChangedHands(change);
  }

  final Rivalries rivalries() {
    return all;
  }
}
