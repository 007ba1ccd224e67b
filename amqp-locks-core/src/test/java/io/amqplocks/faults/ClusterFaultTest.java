package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.SlotOrder;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import io.amqplocks.test.QueueCleanup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holders and others see when nodes of a cluster fail, on Khepri. */
@Tag("one-jdk")
@Order(1) // of the longest
class ClusterFaultTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(4);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);

  /** One and three quarters of a heartbeat, after which a holder that is told nothing doubts. */
  private static final Duration CERTAIN = Duration.ofSeconds(7);

  private static final Duration LOOK = Duration.ofMillis(20);

  /** After a cut nodes take up to half a minute to find each other again. */
  private static final Duration SOON = Duration.ofSeconds(90);

  private static Cluster cluster;

  private Fixture fixture;

  @BeforeAll
  static void start() {
    cluster = Cluster.start();
  }

  @BeforeEach
  void fixture() {
    fixture = new Fixture(cluster.leader());
  }

  @AfterEach
  void heal() throws Exception {
    cluster.heal();
    Fences.clear(cluster.node(1), fixture.prefix());
    fixture.close();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private AmqpLocks on(ClusterNode node) {
    return fixture.connected(
        fixture
            .builder(node.connectionFactory())
            .heartbeat(HEARTBEAT)
            .callTimeout(CALL_TIMEOUT)
            .slotOrder(SlotOrder.ASCENDING));
  }

  /** To make a fence is many calls, and who is cut short in between may leave none. */
  private AmqpLocks patient(ClusterNode node) {
    return fixture.open(fixture.builder(node.connectionFactory()));
  }

  private String queue(String mutex) {
    return fixture.names().exclusiveQueueMutex(LockName.of(mutex));
  }

  /**
   * By our own deadline, in words of ours, and not when the broker gives up: after half a minute.
   */
  private static void assertEndsInTime(ThrowingCallable call, String... words) {
    Throwable failure = null;
    // On a busy machine a call may be over before it has the connection that it opens.
    for (int i = 0; i < 3 && !(failure instanceof LockException.Unanswered); i++) {
      long start = System.nanoTime();
      failure = catchThrowable(call);
      assertInTime(start);
      if (!isWithoutConnection(failure)) {
        break;
      }
    }
    assertThat(failure).isInstanceOf(LockException.Unanswered.class).hasMessageContainingAll(words);
  }

  private static boolean isWithoutConnection(@Nullable Throwable failure) {
    return failure instanceof LockException.Unreachable
        && String.valueOf(failure.getMessage()).startsWith("No connection to RabbitMQ");
  }

  private static void assertInTime(long start) {
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  private static Lease acquired(AmqpLock lock) throws InterruptedException {
    return lock.acquire(SOON);
  }

  /** The first answer: while the majority chooses a leader there may be none. */
  private static Optional<Lease> answered(AmqpLock lock) {
    return await()
        .atMost(SOON)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(lock::tryAcquire, Objects::nonNull);
  }

  /**
   * Nothing is asked of the metadata store in vain where it has no majority, but after 30 seconds
   * the broker answers by closing the connection (541).
   */
  @Tag("trap-7")
  @Test
  void inAMinorityCallsEndInTimeAndTheLossThatFollowsIsTold() throws Exception {
    ClusterNode alone = cluster.others(cluster.leader()).get(0);
    ClusterNode other = cluster.others(alone).get(0);
    AmqpLocks asking = on(alone);
    AmqpLocks quiet = on(alone);
    AmqpLocks releasing = on(alone);
    AmqpLocks majority = on(other);
    AmqpLocks patient = patient(alone);
    fixture.create(patient, "s", 2);
    fixture.create(patient, "t", 1);
    fixture.enable(patient, "p");
    fixture.enable(patient, "fenced");
    Fences.token(patient.persistentMutex("fenced"));
    Fences.token(quiet.persistentMutex("fenced"));
    Lease held = Fixture.first(asking.exclusiveQueueMutex("held"));
    Lease others = Fixture.first(quiet.exclusiveQueueMutex("others"));
    Lease released = Fixture.first(releasing.exclusiveQueueMutex("released"));

    cluster.makeLeader(other);
    alone.cutOffFromPeers();

    assertEndsInTime(
        () -> asking.exclusiveQueueMutex("new").tryAcquire(), "mutex 'new'", "2000 ms");
    assertEndsInTime(() -> asking.slotSemaphore("s").tryAcquire(), "semaphore 's'");
    // Also when its only slot has been asked for already.
    for (int i = 0; i < 2; i++) {
      assertEndsInTime(() -> asking.slotSemaphore("t").tryAcquire(), "semaphore 't'");
    }
    long start = System.nanoTime();
    released.close();
    assertInTime(start);
    assertThat(held.verify()).isEqualTo(LeaseState.HELD);
    // An exclusive consumer is between it and the queue's own node: no metadata.
    Lease consumed = Fixture.first(quiet.persistentMutex("p"));
    // A token takes a majority.
    assertEndsInTime(
        () -> quiet.persistentMutex("fenced").fenced().tryAcquire(), "persistent mutex 'fenced'");
    // Not by acquire: to wait is to register a queue to be woken by, and that takes a majority.
    Lease unused = Fixture.first(quiet.persistentMutex("fenced"));

    assertThat(answered(majority.exclusiveQueueMutex("held"))).isEmpty();
    acquired(majority.exclusiveQueueMutex("elsewhere")).close();
    assertEndsInTime(() -> majority.persistentMutex("p").tryAcquire(), "persistent mutex 'p'");

    await().atMost(Duration.ofSeconds(90)).until(() -> held.state() == LeaseState.LOST);
    LossReason reason = held.lossReason().orElseThrow();
    assertThat(reason.cause()).isEqualTo(LossReason.Cause.SESSION_ENDED);
    assertThat(reason.detail()).contains("INTERNAL_ERROR");
    assertThat(others.verify()).isEqualTo(LeaseState.HELD);
    assertThat(consumed.verify()).isEqualTo(LeaseState.HELD);
    assertThat(answered(majority.exclusiveQueueMutex("held"))).isEmpty();

    cluster.heal();

    assertThat(consumed.verify()).isEqualTo(LeaseState.HELD);
    assertThat(others.verify()).isEqualTo(LeaseState.HELD);
    assertThat(answered(majority.exclusiveQueueMutex("others"))).isEmpty();
    acquired(majority.exclusiveQueueMutex("held")).close();
    // Its delete was answered 541 just before or after the nodes came together.
    acquiredAfterOperator(majority.exclusiveQueueMutex("released"), other, queue("released"))
        .close();
    acquiredAfterOperator(majority.exclusiveQueueMutex("new"), other, queue("new")).close();
    Lease first = acquired(majority.slotSemaphore("s"));
    String asked = fixture.names().holder(LockName.of("s"), 1);
    AmqpLock rest = asking.slotSemaphore("s");
    Lease second = first.slot() == 1 ? acquired(rest) : acquiredAfterOperator(rest, other, asked);
    assertThat(List.of(first.slot(), second.slot())).containsExactlyInAnyOrder(1, 2);
  }

  /** The lowest that is free. An attempt that was too late may be undone only now. */
  private static Lease slot(AmqpLocks locks, int wanted) {
    return await()
        .atMost(SOON)
        .until(
            () -> {
              Lease got = Fixture.first(locks.slotSemaphore("s"));
              if (got.slot() != wanted) {
                got.close();
              }
              return got;
            },
            got -> got.slot() == wanted);
  }

  /**
   * What the broker has answered 541 it may carry out after a cut all the same, and the queue then
   * belongs to a connection that is no more. So an operator may have to delete it.
   */
  private static Lease acquiredAfterOperator(AmqpLock lock, ClusterNode node, String queue)
      throws InterruptedException {
    try {
      return lock.acquire(Duration.ofSeconds(5));
    } catch (LockException e) {
      assertThat(e)
          .matches(
              failure ->
                  failure instanceof LockException.AcquireTimeout
                      || failure instanceof LockException.Unanswered
                      || failure.isOutage());
    }
    try {
      node.faults().deleteQueue(queue);
    } catch (IllegalStateException absent) {
      // There is none: the cluster, which has only just come together, was slow.
    }
    return acquired(lock);
  }

  @Test
  void aHolderCutOffWithItsNodeKnowsAndNobodyElseHolds() throws Exception {
    ClusterNode alone = cluster.leader();
    ClusterNode other = cluster.others(alone).get(0);
    AmqpLocks majority = on(other);
    AmqpLocks asking = on(other);
    // What is asked in vain for half a minute ends the session, so it is not that of a holder.
    AmqpLocks looking = on(other);
    Lease held = Fixture.first(on(alone).exclusiveQueueMutex("held"));
    Lease theirs = Fixture.first(majority.exclusiveQueueMutex("theirs"));

    cluster.makeLeader(alone);
    long start = System.nanoTime();
    alone.cutOff();

    // Until the others have chosen a leader nobody can take a lock, and who asks is told in time.
    assertEndsInTime(() -> asking.exclusiveQueueMutex("asked").tryAcquire(), "mutex 'asked'");
    await().until(() -> held.state() != LeaseState.HELD);
    try {
      assertThat(looking.exclusiveQueueMutex("held").tryAcquire()).isEmpty();
    } catch (LockException e) {
      // They have none yet.
      assertThat(e).matches(LockException::isOutage, "an outage");
    }
    await().until(() -> held.state() == LeaseState.LOST);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isLessThan(HEARTBEAT.multipliedBy(3).plusSeconds(20));

    await()
        .during(Duration.ofSeconds(10))
        .atMost(Duration.ofMinutes(3))
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(
            () -> {
              assertThat(looking.exclusiveQueueMutex("held").tryAcquire()).isEmpty();
              return true;
            });
    assertThat(theirs.verify()).isEqualTo(LeaseState.HELD);

    cluster.heal();

    acquired(majority.exclusiveQueueMutex("held")).close();
    acquiredAfterOperator(majority.exclusiveQueueMutex("asked"), other, queue("asked")).close();
    assertThat(held.state()).isEqualTo(LeaseState.LOST);
    assertThat(theirs.verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void whatAKilledNodeHeldIsKeptUntilItIsBackOrAnOperatorFreesIt() throws Exception {
    ClusterNode dead = cluster.leader();
    ClusterNode other = cluster.others(dead).get(0);
    AmqpLocks theirs = on(dead);
    AmqpLocks locks = on(other);
    Lease lost = Fixture.first(theirs.exclusiveQueueMutex("lost"));
    Lease freed = Fixture.first(theirs.exclusiveQueueMutex("freed"));
    Lease elsewhere = Fixture.first(locks.exclusiveQueueMutex("elsewhere"));
    Fences.token(patient(dead).exclusiveQueueMutex("fenced"));
    // Who has drawn before knows the counter; to find it takes the node of the queue that tells it.
    FencingToken before = Fences.token(locks.exclusiveQueueMutex("fenced"));

    dead.faults().kill();

    await().until(() -> lost.state() == LeaseState.LOST && freed.state() == LeaseState.LOST);
    FencingToken between = Fences.token(locks.exclusiveQueueMutex("fenced"));
    assertThat(between.isAfter(before)).isTrue();
    assertThat(elsewhere.verify()).isEqualTo(LeaseState.HELD);
    assertThat(answered(locks.exclusiveQueueMutex("lost"))).isEmpty();
    assertThat(answered(locks.exclusiveQueueMutex("freed"))).isEmpty();
    other.faults().deleteQueue(queue("freed"));
    Lease next = Fixture.first(locks.exclusiveQueueMutex("freed"));

    dead.faults().start();
    cluster.awaitTogether();

    acquired(locks.exclusiveQueueMutex("lost")).close();
    // The node that is back deletes what it owned, and not what is another's by now.
    await()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofMinutes(1))
        .until(() -> next.verify() == LeaseState.HELD);
    assertThat(elsewhere.verify()).isEqualTo(LeaseState.HELD);
    assertThat(Fences.token(locks.exclusiveQueueMutex("fenced")).isAfter(between)).isTrue();
  }

  /**
   * When nodes find each other again, each deletes exclusive queues of the other that it takes for
   * dead. One that was behind takes the queue of an earlier holder for that of the present one.
   */
  @Tag("trap-27")
  @Test
  void whatChangedHandsDuringABreakMayBeLostAtItsEndAndTheNextVerificationTells() throws Exception {
    ClusterNode home = cluster.leader();
    ClusterNode behind = cluster.others(home).get(0);
    AmqpLocks earlier = on(home);
    // Those of the test are its only verifications.
    Duration never = Duration.ofMinutes(10);
    AmqpLocks holders =
        fixture.connected(
            fixture.builder(home.connectionFactory()).heartbeat(never).verifyEvery(never));
    AmqpLocks others = on(cluster.others(home).get(1));
    List<String> taken = new ArrayList<>();
    Lease quiet = acquired(holders.exclusiveQueueMutex("quiet"));
    // It is not so each time: the node that was behind may be quick enough.
    for (int i = 0; i < 10 && taken.isEmpty(); i++) {
      String round = i + "-";
      List<String> names = IntStream.range(0, 20).mapToObj(each -> round + each).toList();
      List<Lease> before = new ArrayList<>();
      for (String name : names) {
        before.add(acquired(earlier.exclusiveQueueMutex(name)));
      }
      cluster.breakOffFromPeers(behind);
      before.forEach(Lease::close);
      Map<String, Lease> leases = new TreeMap<>();
      for (String name : names) {
        leases.put(name, acquired(holders.exclusiveQueueMutex(name)));
      }

      cluster.heal();

      for (String name : names) {
        Optional<Lease> other = answered(others.exclusiveQueueMutex(name));
        other.ifPresent(lease -> taken.add(name));
        other.ifPresent(Lease::close);
      }
      // Nobody has told them: the broker cancels no consumer.
      assertThat(leases.values()).allMatch(lease -> lease.state() == LeaseState.HELD);
      leases.forEach(
          (name, lease) ->
              assertThat(lease.verify())
                  .isEqualTo(taken.contains(name) ? LeaseState.LOST : LeaseState.HELD));
      assertThat(quiet.verify()).isEqualTo(LeaseState.HELD);
    }
    assertThat(taken).isNotEmpty();
    assertThat(behind.cleanups()).extracting(QueueCleanup::node).contains(home.number());

    // What is left of such a queue costs whoever declares it on that node the connection, until
    // its owner's has ended.
    await().atMost(SOON).until(() -> quiet.state() == LeaseState.LOST);
    assertThat(quiet.lossReason().orElseThrow().detail()).contains("without its process");
    for (String each : taken) {
      Fixture.first(earlier.exclusiveQueueMutex(each)).close();
    }
  }

  @Tag("trap-2")
  @Tag("trap-7")
  @Test
  void queuesOfADeadNodeAreNeitherThereNorAbsent() throws Exception {
    ClusterNode dead = cluster.others(cluster.leader()).get(0);
    ClusterNode other = cluster.others(dead).get(0);
    AmqpLocks theirs = on(dead);
    AmqpLocks locks = on(other);
    fixture.create(patient(other), "s", 2);
    fixture.willExist("s", 4);
    AmqpLocks patient = patient(dead);
    patient.admin().slotSemaphore("s").resize(4);
    fixture.enable(patient, "p");
    Lease first = slot(locks, 1);
    Lease second = slot(theirs, 2);
    Lease third = slot(locks, 3);
    Lease consumed = Fixture.first(locks.persistentMutex("p"));

    dead.faults().kill();

    await().until(() -> second.state() == LeaseState.LOST && consumed.state() == LeaseState.LOST);
    assertThat(consumed.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.REVOKED);
    // Slot 2 is there, but whether it is held cannot be told; of 3 and 4 not even that they are.
    assertEndsInTime(
        () -> locks.slotSemaphore("s").tryAcquire(),
        "semaphore 's'",
        "a node of the broker may be down");
    assertEndsInTime(
        () -> locks.admin().slotSemaphore("s").count(), "semaphore 's'", "its node is down");
    assertEndsInTime(() -> locks.admin().slotSemaphore("s").resize(1), "semaphore 's'");
    assertEndsInTime(() -> locks.persistentMutex("p").tryAcquire(), "persistent mutex 'p'");
    // A durable queue is declared on the node where it is.
    assertEndsInTime(() -> locks.admin().persistentMutex("p").enable(), "persistent mutex 'p'");
    // Held slots stay held, also one whose own queue cannot be asked.
    assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    assertThat(third.verify()).isEqualTo(LeaseState.HELD);
    first.close();
    assertThat(Fixture.first(locks.slotSemaphore("s")).slot()).isEqualTo(1);

    dead.faults().start();
    cluster.awaitTogether();

    // Its queues are back a moment later than the node.
    await()
        .atMost(SOON)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> locks.admin().slotSemaphore("s").count() == 4);
    assertThat(third.verify()).isEqualTo(LeaseState.HELD);
    // The queue that the dead holder had of slot 2 may be there for a moment more.
    int fourth = acquired(locks.slotSemaphore("s")).slot();
    int fifth = acquired(locks.slotSemaphore("s")).slot();
    assertThat(List.of(fourth, fifth)).containsExactlyInAnyOrder(2, 4);
    assertThat(answered(locks.slotSemaphore("s"))).isEmpty();
    acquired(locks.persistentMutex("p")).close();
    patient(other).admin().persistentMutex("p").enable();
  }

  /** A mutex is where its queue is: while that node is down nobody has it, and who asks is told. */
  @Test
  void aMutexIsOutOfReachWhileTheNodeOfItsQueueIsDown() throws Exception {
    ClusterNode dead = cluster.others(cluster.leader()).get(0);
    ClusterNode other = cluster.others(dead).get(0);
    home(dead, "m");
    home(dead, "quiet");
    AmqpLocks locks = on(other);
    AmqpLocks waiting = on(other);
    Lease held = locks.mutex("m").acquire(SOON);
    // Who verifies seldom does not find it out. It is told.
    AmqpLocks seldom = fixture.connected(fixture.seldomVerifying(other.connectionFactory()));
    Lease quiet = seldom.mutex("quiet").acquire(SOON);
    CompletableFuture<Lease> waiter = waiting.mutex("m").acquireAsync(Duration.ofMinutes(6));
    await().until(() -> waiting.status().waiting() == 1);

    dead.faults().kill();

    await()
        .atMost(Fixture.AT_ONCE)
        .until(() -> held.state() == LeaseState.LOST && quiet.state() == LeaseState.LOST);
    assertThat(held.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.REVOKED);
    assertThat(quiet.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.REVOKED);
    assertEndsInTime(() -> locks.mutex("m").tryAcquire(), "mutex 'm'");
    assertThat(waiter).isNotDone();

    dead.faults().start();
    cluster.awaitTogether();

    try (Lease next = waiter.get(6, TimeUnit.MINUTES)) {
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
    acquired(locks.mutex("m")).close();
  }

  /** Lets a mutex's queue be on that node: it is where its first user is connected. */
  private void home(ClusterNode node, String mutex) {
    Fixture.first(on(node).mutex(mutex)).close();
    assertThat(cluster.nodeOf(mutexQueue(mutex))).isSameAs(node);
  }

  private String mutexQueue(String mutex) {
    return fixture.names().mutex(LockName.of(mutex));
  }

  /** One that stands by at the broker when this returns. */
  private CompletableFuture<Lease> waiter(AmqpLocks locks, String mutex, ClusterNode home) {
    CompletableFuture<Lease> waiter = locks.mutex(mutex).acquireAsync(Duration.ofMinutes(6));
    await()
        .until(
            () ->
                home.faults().queues().stream()
                    .filter(queue -> queue.name().equals(mutexQueue(mutex)))
                    .anyMatch(queue -> queue.consumers() == 2));
    return waiter;
  }

  /** Waits until then, and throws if both are seen to be held. */
  private static void awaitNeverBothHeld(
      Lease old, CompletableFuture<Lease> waiter, Callable<Boolean> then) {
    await()
        .atMost(SOON)
        .pollInterval(LOOK)
        .until(
            () -> {
              Lease next = waiter.getNow(null);
              // Twice the same, and so in between as well.
              assertThat(next != null && isHeld(next) && isHeld(old) && isHeld(next))
                  .as("both HELD")
                  .isFalse();
              return then.call();
            });
  }

  private static boolean isHeld(Lease lease) {
    return lease.state() == LeaseState.HELD;
  }

  /** By the time before each look, so that a machine that is slow to look does not matter. */
  private static void assertDoubtsInTime(Lease old, CompletableFuture<Lease> waiter, long start) {
    AtomicLong lastHeld = new AtomicLong(start);
    awaitNeverBothHeld(
        old,
        waiter,
        () -> {
          long now = System.nanoTime();
          if (isHeld(old)) {
            lastHeld.set(now);
            return false;
          }
          return true;
        });
    assertThat(Duration.ofNanos(lastHeld.get() - start)).isLessThan(CERTAIN);
  }

  /**
   * Nobody is told: the connections stay, and the other nodes would miss this one after 45 s at the
   * earliest. So the holder doubts by its own clock.
   */
  @ParameterizedTest
  @EnumSource(names = {"UNCERTAIN", "LOST"})
  void aMutexWhoseQueuesNodeIsFrozenIsInDoubtAndNobodyElseHasIt(LeaseState until) throws Exception {
    ClusterNode frozen = cluster.others(cluster.leader()).get(0);
    List<ClusterNode> others = cluster.others(frozen);
    home(frozen, "m");
    AmqpLocks asking = on(others.get(1));
    Lease held = on(others.get(0)).mutex("m").acquire(SOON);
    CompletableFuture<Lease> waiter = waiter(on(others.get(1)), "m", frozen);

    frozen.faults().freeze();
    long start = System.nanoTime();

    assertEndsInTime(() -> asking.mutex("m").tryAcquire(), "mutex 'm'");
    assertDoubtsInTime(held, waiter, start);
    long verified = System.nanoTime();
    assertThat(held.verify()).isNotEqualTo(LeaseState.HELD);
    assertInTime(verified);
    await().until(() -> held.state().compareTo(until) >= 0);
    assertThat(waiter).isNotDone();

    frozen.faults().thaw();

    awaitNeverBothHeld(held, waiter, () -> isHeld(held) || waiter.isDone());
    held.close();
    try (Lease next = waiter.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
    acquired(asking.mutex("m")).close();
  }

  /**
   * While a channel waits for a queue that is out of reach, the broker tells it nothing. So a
   * verification does not wait on the channel by which the holder is told.
   */
  @Tag("trap-28")
  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "PERSISTENT_MUTEX"})
  void aHolderIsToldThoughItsVerificationWasUnderWayWhenTheNodesLostEachOther(LockKind kind)
      throws Exception {
    ClusterNode home = cluster.others(cluster.leader()).get(0);
    AmqpLocks there = on(home);
    if (kind == LockKind.MUTEX) {
      home(home, "m");
    } else {
      fixture.enable(patient(home), "m");
    }
    // Those of the test are its only verifications, and its own clock says nothing for long.
    AmqpLocks seldom =
        fixture.connected(
            fixture
                .seldomVerifying(cluster.leader().connectionFactory())
                .callTimeout(Duration.ofSeconds(50)));
    LockId id = new LockId(kind, LockName.of("m"));
    Lease held = acquired(seldom.lock(id));

    home.cutOffFromPeers();
    CompletableFuture<LeaseState> verification = CompletableFuture.supplyAsync(held::verify);
    // It is at work, for nobody answers.
    await().during(Duration.ofSeconds(1)).until(() -> !verification.isDone());
    cluster.breakOffFromPeers(home);

    await().atMost(Fixture.AT_ONCE).until(() -> held.state() == LeaseState.LOST);
    assertThat(held.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.REVOKED);
    acquired(there.lock(id)).close();
  }

  /**
   * The queue's node gives the mutex away when it misses the node of the holder. By default that
   * takes 45 s at least, so it is made shorter here. It is still more than 2.4 heartbeats.
   */
  @Test
  void aMutexWhoseHoldersNodeIsFrozenIsTheNextOnesWhenItsHolderDoubts() throws Exception {
    ClusterNode home = cluster.leader();
    ClusterNode frozen = cluster.others(home).get(0);
    ClusterNode live = cluster.others(home).get(1);
    home(home, "m");
    Lease held = on(frozen).mutex("m").acquire(SOON);
    AmqpLocks locks = on(live);
    CompletableFuture<Lease> waiter = waiter(locks, "m", home);
    cluster.netTickTime(HEARTBEAT.multipliedBy(4));

    frozen.faults().freeze();
    long start = System.nanoTime();

    assertDoubtsInTime(held, waiter, start);
    awaitNeverBothHeld(held, waiter, waiter::isDone);
    try (Lease next = waiter.join()) {
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);

      frozen.faults().thaw();

      awaitNeverBothHeld(held, waiter, () -> held.state() == LeaseState.LOST);
      cluster.awaitTogether();
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
    acquired(locks.mutex("m")).close();
  }

  /**
   * Holding, verifying and releasing a mutex is between the client and the queue's node, and needs
   * no majority. A new name does, and the call ends in time.
   */
  @Tag("trap-7")
  @Test
  void inAMinorityAMutexWhoseQueueIsThereGoesOn() throws Exception {
    ClusterNode alone = cluster.others(cluster.leader()).get(0);
    AmqpLocks locks = on(alone);
    ClusterNode other = cluster.others(alone).get(0);
    AmqpLocks majority = on(other);
    Lease held = Fixture.first(locks.mutex("m"));
    Fixture.first(locks.mutex("used")).close();

    cluster.makeLeader(other);
    alone.cutOffFromPeers();

    assertThat(held.verify()).isEqualTo(LeaseState.HELD);
    Fixture.first(locks.mutex("used")).close();
    assertEndsInTime(() -> locks.mutex("new").tryAcquire(), "mutex 'new'");
    assertThatThrownBy(() -> majority.mutex("m").acquire(Duration.ofSeconds(10)))
        .isInstanceOf(LockException.class)
        .hasMessageContaining("mutex 'm'");
    // A declare in vain ends the side connection after half a minute, and no lease.
    await()
        .during(Duration.ofSeconds(35))
        .atMost(SOON)
        .until(() -> held.state() != LeaseState.LOST);
    assertThat(held.verify()).isEqualTo(LeaseState.HELD);

    cluster.heal();

    assertThat(held.verify()).isIn(LeaseState.HELD, LeaseState.LOST);
    held.close();
    acquired(majority.mutex("m")).close();
    acquiredAfterOperator(locks.mutex("new"), cluster.others(alone).get(0), queue("new")).close();
  }
}
