package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What holders see when the broker, or the way to it, fails. */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class BrokerFaultTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  private AmqpLocksBuilder through(TcpProxy proxy, Broker broker) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return fixture.builder(factory);
  }

  private String queue(String mutex) {
    return fixture.names().exclusiveQueueMutex(LockName.of(mutex));
  }

  @Test
  void aRestartLosesAllLeasesAndKeepsTheSlots(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    fixture.create(locks, "s", 3);
    List<Lease> leases =
        List.of(
            locks.slotSemaphore("s").tryAcquire().orElseThrow(),
            locks.slotSemaphore("s").tryAcquire().orElseThrow(),
            locks.mutex("m").tryAcquire().orElseThrow());
    if (!broker.version().isAtLeast(4, 0)) {
      // Mnesia's log is written behind, after up to two seconds: what is newer dies with the
      // process.
      await().pollDelay(Duration.ofSeconds(6)).until(() -> true);
    }
    broker.faults().kill();
    await()
        .atMost(Fixture.AT_ONCE)
        .until(() -> leases.stream().allMatch(l -> l.state() == LeaseState.LOST));
    assertThat(leases.get(2).lossReason())
        .hasValueSatisfying(r -> assertThat(r.cause()).isEqualTo(LossReason.Cause.SESSION_ENDED));
    assertThat(locks.status().session()).isEqualTo(LocksStatus.Session.ENDED);
    assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
        .isInstanceOf(LockException.Unreachable.class)
        .hasMessageContaining("semaphore 's'");
    // A waiter rides over the outage.
    Future<Lease> waiter =
        threads.submit(() -> locks.slotSemaphore("s").acquire(Duration.ofMinutes(2)));
    broker.faults().start();
    Lease next = waiter.get(120, TimeUnit.SECONDS);
    assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(3);
    leases.forEach(lease -> assertThat(lease.state()).isEqualTo(LeaseState.LOST));
  }

  @Test
  void aCutConnectionIsReportedAtOnce(Broker broker) throws Exception {
    AmqpLock theirs = fixture.open().mutex("m");
    theirs.tryAcquire().orElseThrow().close();
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks = fixture.open(fixture.seldomVerifying(factory));
      Lease lease = Fixture.first(locks.mutex("m"));
      long cut = System.nanoTime();
      proxy.reset();
      assertThat(
              lease
                  .whenLost()
                  .toCompletableFuture()
                  .get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS)
                  .cause())
          .isEqualTo(LossReason.Cause.SESSION_ENDED);
      await()
          .atMost(Fixture.AT_ONCE)
          .pollInterval(Duration.ofMillis(10))
          .until(() -> theirs.tryAcquire().isPresent());
      // By its heartbeats the broker would take two minutes, and the holder half of one.
      assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(Fixture.AT_ONCE);
    }
  }

  @Tag("trap-5")
  @Test
  void aSilentNetworkMakesALeaseUncertainThenLost(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      Duration heartbeat = Duration.ofSeconds(2);
      AmqpLocks locks =
          fixture.open(through(proxy, broker).heartbeat(heartbeat).callTimeout(heartbeat));
      AmqpLock theirs = fixture.open().mutex("m");
      theirs.tryAcquire().orElseThrow().close();
      Lease lease = Fixture.first(locks.mutex("m"));
      proxy.blackHole(Direction.BOTH);
      long silent = System.nanoTime();
      // Looked at when it must have happened, not timed: a slow machine sees no more than is so.
      passes(silent, heartbeat.multipliedBy(7).dividedBy(4));
      assertThat(lease.state()).isIn(LeaseState.UNCERTAIN, LeaseState.LOST);
      // The broker closes the connection after three heartbeats at most, and that frees the queue.
      Duration bound = heartbeat.multipliedBy(3).plusSeconds(8);
      Lease next =
          await()
              .atMost(bound)
              .pollInterval(Duration.ofMillis(10))
              .until(theirs::tryAcquire, Optional::isPresent)
              .orElseThrow();
      assertThat(Duration.ofNanos(System.nanoTime() - silent)).isLessThan(bound);
      assertThat(lease.state()).isIn(LeaseState.UNCERTAIN, LeaseState.LOST);
      passes(silent, heartbeat.multipliedBy(3));
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  private static void passes(long since, Duration time) {
    await()
        .pollInterval(Duration.ofMillis(10))
        .until(() -> System.nanoTime() - since >= time.toNanos());
  }

  /**
   * At the first attempt. Or at a later one, if that was too late on a machine that stalls: what it
   * may have left is being undone.
   */
  private static Lease acquired(AmqpLock lock) {
    try {
      return lock.tryAcquire().orElseThrow();
    } catch (LockException.Unanswered stalled) {
      return Fixture.first(lock);
    }
  }

  /** The first answer, on a machine that may stall for longer than a call may take. */
  private static Optional<Lease> answered(AmqpLock lock) {
    return await()
        .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
        .until(lock::tryAcquire, Objects::nonNull);
  }

  @Tag("trap-6")
  @Test
  void aDeclareAnsweredTooLateIsUndoneAndTakenForNothingElse(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = fixture.open(through(proxy, broker).callTimeout(Duration.ofSeconds(2)));
      Fixture.first(locks.exclusiveQueueMutex("m")).close();
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
      assertThatThrownBy(() -> locks.exclusiveQueueMutex("m").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("mutex 'm'")
          .hasMessageContaining("2000 ms");
      proxy.heal();
      // All answers stay behind the late one, so this may have late ones too, which are undone.
      await()
          .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
          .until(() -> locks.exclusiveQueueMutex("first").tryAcquire(), Optional::isPresent)
          .orElseThrow()
          .close();
      for (int i = 0; i < 20; i++) {
        try (Lease lease = acquired(locks.exclusiveQueueMutex("other-" + i))) {
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
      }
      await().until(() -> !fixture.exists(queue("m")));
      await()
          .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
          .until(() -> locks.exclusiveQueueMutex("m").tryAcquire().isPresent());
    }
  }

  /**
   * Or the next one here would be told that the queue is its own, and then lose it to the delete.
   */
  @Tag("trap-6")
  @Test
  void nobodyHereTakesTheLockWhileItsDeleteIsOverdue(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = fixture.open(through(proxy, broker).callTimeout(Duration.ofSeconds(1)));
      Lease lease = Fixture.first(locks.exclusiveQueueMutex("m"));
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
      lease.close();
      assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
      // Were the broker asked, this call would end unanswered.
      assertThat(locks.exclusiveQueueMutex("m").tryAcquire()).isEmpty();
      proxy.heal();
      Lease next =
          await()
              .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
              .until(() -> locks.exclusiveQueueMutex("m").tryAcquire(), Optional::isPresent)
              .get();
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  /** It looks for no slots. So only its announcer publishes, for each mutex that is new. */
  @Tag("trap-4")
  @Test
  void anAlarmThatStopsAProcessOfMutexesIsInItsStatus(Broker broker) {
    AmqpLocks locks = fixture.open();
    locks.mutex("m").tryAcquire().orElseThrow().close();
    assertThat(locks.status().blocked()).isFalse();
    broker.faults().memoryAlarm(true);
    try {
      AtomicInteger last = new AtomicInteger();
      await()
          .until(
              () -> {
                try {
                  locks.mutex("new" + last.incrementAndGet()).tryAcquire().ifPresent(Lease::close);
                } catch (LockException stopped) {
                  assertThat(stopped).isInstanceOf(LockException.Unanswered.class);
                }
                return locks.status().blocked();
              });
    } finally {
      broker.faults().memoryAlarm(false);
    }
    await().until(() -> !locks.status().blocked());
  }

  @Tag("trap-4")
  @Test
  void underAMemoryAlarmHoldingGoesOnAndLookingForSlotsSaysWhy(Broker broker) throws Exception {
    Duration heartbeat = Duration.ofSeconds(5);
    AmqpLocks locks = fixture.open(fixture.builder().heartbeat(heartbeat).callTimeout(heartbeat));
    fixture.create(fixture.open(), "s", 2);
    Lease slot = Fixture.first(locks.slotSemaphore("s"));
    Lease mutex = Fixture.first(locks.exclusiveQueueMutex("m"));
    broker.faults().memoryAlarm(true);
    try {
      long since = System.nanoTime();
      assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("semaphore 's'");
      // A call timeout, and one more to open a connection; the alarm would not end.
      assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(heartbeat.multipliedBy(4));
      await().until(() -> locks.status().blocked());
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                assertThat(slot.verify()).isEqualTo(LeaseState.HELD);
                assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
                return System.nanoTime() - since > heartbeat.multipliedBy(4).toNanos();
              });
      slot.close();
      await().until(() -> !fixture.exists(fixture.names().holder(LockName.of("s"), slot.slot())));
      locks.exclusiveQueueMutex("another").tryAcquire().orElseThrow().close();
    } finally {
      broker.faults().memoryAlarm(false);
    }
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> locks.slotSemaphore("s").tryAcquire(), Optional::isPresent)
        .orElseThrow()
        .close();
    assertThat(mutex.state()).isEqualTo(LeaseState.HELD);
  }

  @Tag("trap-4")
  @Test
  void closingIsBoundedUnderAMemoryAlarm(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().callTimeout(Duration.ofSeconds(2)));
    fixture.create(fixture.open(), "s", 2);
    Lease lease = Fixture.first(locks.slotSemaphore("s"));
    broker.faults().memoryAlarm(true);
    try {
      assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class);
      long start = System.nanoTime();
      locks.close();
      // It waits for each connection once, by the call timeout; the alarm itself would never end.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
      assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
      await().until(() -> !fixture.exists(fixture.names().holder(LockName.of("s"), lease.slot())));
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }

  @Test
  void aFrozenBrokerBoundsEveryCall(Broker broker) throws Exception {
    AmqpLocks locks =
        fixture.open(
            fixture.builder().heartbeat(Duration.ofSeconds(20)).callTimeout(Duration.ofSeconds(1)));
    fixture.create(fixture.open(), "s", 1);
    Lease lease = Fixture.first(locks.exclusiveQueueMutex("m"));
    Fixture.first(locks.slotSemaphore("s")).close();
    broker.faults().freeze();
    try {
      long start = System.nanoTime();
      assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class);
      assertThatThrownBy(() -> locks.exclusiveQueueMutex("n").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      lease.close();
      // Four calls of a second each; by its heartbeats the client would find out after 40 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
    } finally {
      broker.faults().thaw();
    }
    await()
        .ignoreExceptions()
        .until(() -> !fixture.exists(queue("m")) && !fixture.exists(queue("n")));
    await().ignoreExceptions().until(() -> locks.exclusiveQueueMutex("n").tryAcquire().isPresent());
  }

  @Test
  void aFrozenBrokerIsWaitedForOnceWhenItsConnectionsClose(Broker broker) throws Exception {
    try (ClockedClient client = new ClockedClient(broker, Duration.ofSeconds(60))) {
      Session session = client.session();
      Call call = client.call(LockId.mutex("any"));
      for (AuxiliaryConnection each :
          List.of(session.prober(), session.announcer(), session.side())) {
        assertThat(each.open(call).connection().isOpen()).isTrue();
      }
      broker.faults().freeze();
      try {
        long start = System.nanoTime();
        client.sessions().close();
        // Five seconds, which are the call timeout, and not as many for each of four connections.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
      } finally {
        broker.faults().thaw();
      }
    }
  }

  @Tag("trap-6")
  @Test
  void theUsersRecoverySettingsDoNotMatter(Broker broker) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setAutomaticRecoveryEnabled(true);
    factory.setTopologyRecoveryEnabled(true);
    factory.setNetworkRecoveryInterval(100);
    String name = fixture.prefix();
    AmqpLocks locks = fixture.open(fixture.builder(factory).connectionName(name));
    fixture.create(fixture.open(), "s", 1);
    Lease slot = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
    // No lease ends with the connection that looked for the slot; it is opened when it is needed
    // next.
    broker.faults().closeConnections(name + " prober", "test");
    await()
        .during(Duration.ofSeconds(1))
        .until(() -> !broker.faults().connections().contains(name + " prober"));
    assertThat(slot.verify()).isEqualTo(LeaseState.HELD);
    broker.faults().closeConnections(name + " holder", "test");
    await().atMost(Fixture.AT_ONCE).until(() -> lease.state() == LeaseState.LOST);
    try (Lease theirs = fixture.open().mutex("m").acquire(Duration.ofMinutes(1))) {
      await()
          .during(Duration.ofSeconds(1))
          .until(() -> broker.faults().connections().stream().noneMatch(c -> c.startsWith(name)));
      assertThat(theirs.verify()).isEqualTo(LeaseState.HELD);
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }
    assertThat(factory.isAutomaticRecoveryEnabled()).isTrue();
  }

  /** The mutex, whose acquire is a consume. */
  @Tag("trap-6")
  @Test
  void aConsumeAnsweredTooLateIsUndone(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = fixture.open(through(proxy, broker).callTimeout(Duration.ofSeconds(2)));
      AmqpLocks others = fixture.open();
      Fixture.first(locks.mutex("m")).close();
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
      assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("mutex 'm'")
          .hasMessageContaining("2000 ms");
      proxy.heal();
      // Whether the late message went back: nobody of this process holds it any more.
      try (Lease theirs = others.mutex("m").acquire(Duration.ofSeconds(30))) {
        assertThat(theirs.verify()).isEqualTo(LeaseState.HELD);
        await()
            .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
            .until(
                () -> {
                  Optional<Lease> second = locks.mutex("m").tryAcquire();
                  second.ifPresent(Lease::close);
                  assertThat(second).isEmpty();
                  return true;
                });
      }
      await()
          .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
          .until(() -> locks.mutex("m").tryAcquire().isPresent());
    }
  }

  /** What holds nothing cannot be had again: no reason to lose the place in the line. */
  @Test
  void aMutexIsWaitedForThoughOnlyTheConnectionOfLeasesIsLeft(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      String name = fixture.prefix() + "it";
      AmqpLocks locks = fixture.open(through(proxy, broker).connectionName(name));
      Fixture.first(locks.mutex("m")).close();
      Lease theirs = fixture.open().mutex("m").acquire(Duration.ofSeconds(30));
      proxy.refuse(true);
      fixture.closeConnectionsThatHoldNothing(name);
      await().until(() -> proxy.connections() == 1);
      assertThat(locks.mutex("m").tryAcquire()).isEmpty();
      String queue = fixture.names().mutex(LockName.of("m"));
      fixture.awaitConsumers(queue, 1);
      CompletableFuture<Lease> waiting = locks.mutex("m").acquireAsync(Duration.ofSeconds(60));
      fixture.awaitConsumers(queue, 2);
      try (Connection stranger = fixture.stranger()) {
        AtomicInteger overtook = new AtomicInteger();
        Channel behind = stranger.createChannel();
        behind.basicQos(1);
        behind.basicConsume(queue, (tag, message) -> overtook.incrementAndGet(), tag -> {});
        fixture.awaitConsumers(queue, 3);
        // It looks at its queue after half a heartbeat at the latest.
        await().during(Duration.ofSeconds(6)).until(() -> !waiting.isDone());
        theirs.close();
        try (Lease mine = waiting.get(60, TimeUnit.SECONDS)) {
          assertThat(mine.verify()).isEqualTo(LeaseState.HELD);
          assertThat(overtook).hasValue(0);
          assertThat(proxy.connections()).isEqualTo(1);
        }
      }
    }
  }

  /** Holding goes on, and what was used before is acquired; a new mutex needs a message. */
  @Tag("trap-4")
  @Test
  void underAMemoryAlarmAMutexWithAMessageIsAcquired(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().callTimeout(Duration.ofSeconds(2)));
    AtomicInteger last = new AtomicInteger();
    Lease held = Fixture.first(locks.mutex("held"));
    Fixture.first(locks.mutex("used")).close();
    broker.faults().memoryAlarm(true);
    try {
      // The broker accepts a message more before it stops the connection.
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(
                          () -> locks.mutex("new-" + last.incrementAndGet()).tryAcquire())
                      .isInstanceOf(LockException.Unanswered.class)
                      .hasMessageContaining("mutex 'new-" + last + "'")
                      .hasMessageContaining("low on memory"));
      for (int i = 0; i < 3; i++) {
        assertThat(held.verify()).isEqualTo(LeaseState.HELD);
        // Its queue has no message, because that is with the holder.
        assertThat(answered(locks.mutex("held"))).isEmpty();
        try (Lease lease = acquired(locks.mutex("used"))) {
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
      }
      held.close();
      locks.mutex("held").acquire(Duration.ofSeconds(20)).close();
    } finally {
      broker.faults().memoryAlarm(false);
    }
    locks.mutex("new-" + last).acquire(Duration.ofSeconds(20)).close();
  }

  @Test
  void aFrozenBrokerBoundsEveryCallForAMutex(Broker broker) throws Exception {
    AmqpLocks locks =
        fixture.open(
            fixture.builder().heartbeat(Duration.ofSeconds(20)).callTimeout(Duration.ofSeconds(1)));
    Lease lease = Fixture.first(locks.mutex("m"));
    broker.faults().freeze();
    try {
      long start = System.nanoTime();
      assertThatThrownBy(() -> locks.mutex("n").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class);
      // Certain for a time: its last answer is young.
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      lease.close();
      // By its heartbeats the client would find out after 40 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
    } finally {
      broker.faults().thaw();
    }
    AmqpLocks others = fixture.open();
    others.mutex("m").acquire(Duration.ofMinutes(1)).close();
    others.mutex("n").acquire(Duration.ofMinutes(1)).close();
    await().ignoreExceptions().until(() -> locks.mutex("n").tryAcquire().isPresent());
  }

  /** The message of a mutex does not survive; its queue does, and gets another one. */
  @Test
  void aRestartFreesAMutex(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
    locks.mutex("idle").tryAcquire().orElseThrow().close();
    broker.faults().kill();
    await().atMost(Fixture.AT_ONCE).until(() -> lease.state() == LeaseState.LOST);
    broker.faults().start();
    for (String name : List.of("m", "idle")) {
      try (Lease next = locks.mutex(name).acquire(Duration.ofMinutes(1))) {
        assertThat(next.verify()).isEqualTo(LeaseState.HELD);
      }
    }
  }
}
