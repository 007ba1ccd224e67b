package io.amqplocks.persistent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The persistent mutex where the broker, the network, strangers or permissions do not play along.
 */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class PersistentMutexFaultTest {

  private static final String USER = "locks-persistent";

  /** As of an operator who moves all queues to another type and leaves the rest as it was. */
  private static final Map<String, Object> QUORUM =
      Map.of("x-queue-type", "quorum", "x-max-length", 0, "x-overflow", "drop-head");

  @RegisterExtension private final Fixture fixture = new Fixture();

  private String queue(String name) {
    return fixture.names().persistentMutex(LockName.of(name));
  }

  private AmqpLocks enabled(String name) {
    AmqpLocks locks = fixture.open();
    fixture.enable(locks, name);
    return locks;
  }

  private void declare(Broker broker, String queue, Map<String, Object> arguments)
      throws Exception {
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      stranger.createChannel().queueDeclare(queue, true, false, false, arguments);
    }
  }

  /** The raw fact that the refusal below rests on. */
  @Tag("trap-16")
  @Test
  void aQuorumQueueAdmitsTwoExclusiveConsumersAndAClassicOneDoesNot(Broker broker)
      throws Exception {
    String classic = fixture.prefix() + "classic";
    String quorum = fixture.prefix() + "quorum";
    declare(broker, classic, Map.of("x-queue-type", "classic"));
    declare(broker, quorum, Map.of("x-queue-type", "quorum"));
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      consume(connection, quorum);
      consume(connection, quorum);
      assertThat(connection.createChannel().queueDeclarePassive(quorum).getConsumerCount())
          .isEqualTo(2);
      consume(connection, classic);
      assertThatThrownBy(() -> consume(connection, classic))
          .hasRootCauseMessage(
              "channel error; protocol method: #method<channel.close>(reply-code=403,"
                  + " reply-text=ACCESS_REFUSED - queue '"
                  + classic
                  + "' in vhost '/' in exclusive use, class-id=60, method-id=20)");
    }
  }

  /** Else another one could hold and release meanwhile, and this one would go on with its lease. */
  @Tag("trap-22")
  @Test
  void aHolderHearsThatTheQueuesProcessWasRestarted(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    fixture.enable(locks, "m");
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    broker.faults().crashQueue(queue("m"));
    AmqpLock theirs = fixture.open().persistentMutex("m");
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(theirs::tryAcquire, Optional::isPresent)
        .orElseThrow()
        .close();
    await().atMost(Fixture.AT_ONCE).until(() -> lease.state() == LeaseState.LOST);
    assertThat(lease.lossReason().orElseThrow().detail()).contains(queue("m"));
  }

  private static void consume(Connection connection, String queue) throws Exception {
    Channel channel = connection.createChannel();
    channel.basicConsume(queue, false, "", false, true, null, (tag, message) -> {}, tag -> {});
  }

  @Tag("trap-16")
  @Test
  void aQuorumQueueOfThatNameIsRefusedByAdministratorsAndUsers(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open();
    declare(broker, queue("m"), QUORUM);
    PersistentMutexAdmin admin = locks.admin().persistentMutex("m");
    assertThatThrownBy(admin::enable)
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("persistent mutex 'm'")
        .hasMessageContaining("x-queue-type")
        .hasMessageContaining("delete it");
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("persistent mutex 'm'")
          .hasMessageContaining(queue("m"))
          .hasMessageContaining("classic");
      assertThat(admin.isHeld()).isFalse();
    }
    admin.disable();
    admin.enable();
    locks.persistentMutex("m").tryAcquire().orElseThrow().close();
    // Also when it is replaced after it was proven to be classic, and seen to go in between.
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    admin.disable();
    declare(broker, queue("m"), QUORUM);
    lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
                    .isInstanceOf(LockException.Conflict.class));
  }

  /**
   * No session saw the queue go, so nobody proves the new one. A verification still finds out. On
   * 3.x a quorum queue refuses what a holder asks for, so there is none.
   */
  @Tag("trap-16")
  @Test
  void aSecondHolderOfAQueueReplacedUnseenIsFoundByVerification(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    locks.persistentMutex("m").tryAcquire().orElseThrow().close();
    fixture.delete(queue("m"));
    declare(broker, queue("m"), QUORUM);
    if (broker.version().major() < 4) {
      assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("classic");
      return;
    }
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    assertThat(fixture.open().persistentMutex("m").tryAcquire()).isEmpty();
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      consume(stranger, queue("m"));
      assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
      assertThat(lease.lossReason().orElseThrow().detail()).contains("2 consumers");
    }
  }

  /** A stranger's flood meanwhile, and its leftovers for nobody. */
  @Test
  void strangersProbesDoNoHarm(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    PersistentMutexAdmin admin = locks.admin().persistentMutex("m");
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = stranger.createChannel();
      channel.confirmSelect();
      for (int round = 0; round < 3; round++) {
        try (Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow()) {
          for (int i = 0; i < 20_000; i++) {
            channel.basicPublish("", queue("m"), null, new byte[100]);
          }
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
          assertThat(channel.waitForConfirms(60_000)).isTrue();
          assertThat(channel.queueDeclarePassive(queue("m")).getConsumerCount()).isEqualTo(1);
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
        assertThat(admin.isHeld()).isFalse();
        await().until(() -> channel.messageCount(queue("m")) == 0);
      }
    }
  }

  /** What the passive declare says of it: a consumer that may get no more still counts. */
  @Test
  void aConsumerWithAFullPrefetchStillCounts(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = stranger.createChannel();
      channel.basicQos(1);
      channel.basicConsume(
          queue("m"), false, "", false, true, null, (tag, message) -> {}, tag -> {});
      for (int i = 0; i < 3; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      assertThat(channel.queueDeclarePassive(queue("m")).getConsumerCount()).isEqualTo(1);
      assertThat(locks.admin().persistentMutex("m").isHeld()).isTrue();
      assertThat(locks.persistentMutex("m").tryAcquire()).isEmpty();
    }
  }

  @Test
  void aRestartLosesTheLeaseAndKeepsTheMutexEnabled(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    if (!broker.version().isAtLeast(4, 0)) {
      // Mnesia's log is written behind, after up to two seconds: what is newer dies with it.
      await().pollDelay(Duration.ofSeconds(6)).until(() -> true);
    }
    broker.faults().kill();
    assertThat(lease.whenLost().toCompletableFuture().get(15, TimeUnit.SECONDS).cause())
        .isEqualTo(LossReason.Cause.SESSION_ENDED);
    broker.faults().start();
    try (Lease next = locks.persistentMutex("m").acquire(Duration.ofMinutes(1))) {
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
      assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    }
    assertThat(locks.admin().persistentMutex("m").isEnabled()).isTrue();
  }

  private AmqpLocks through(TcpProxy proxy, Broker broker) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    // So that the broker does not beat meanwhile: answers would wait behind what is delayed.
    Duration heartbeat = Duration.ofSeconds(20);
    return fixture.open(
        fixture.builder(factory).heartbeat(heartbeat).callTimeout(Duration.ofSeconds(6)));
  }

  /** Ends a call in each of its steps: the look, the consume, the cancel. */
  @Tag("trap-6")
  @Test
  void whatIsAnsweredTooLateIsUndoneAndTakenForNothingElse(Broker broker) throws Exception {
    PersistentMutexAdmin observer = enabled("m").admin().persistentMutex("m");
    fixture.enable(fixture.open(), "other");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = through(proxy, broker);
      AmqpLock mutex = locks.persistentMutex("m");
      Fixture.first(mutex).close();
      for (int delay : new int[] {8000, 3400}) {
        String step = delay == 8000 ? "look for queue" : "consume from queue";
        // A machine that stalls uses the time up before the step that is meant.
        String met = "";
        for (int i = 0; i < 4 && !met.contains(step); i++) {
          proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(delay));
          Throwable late = catchThrowable(mutex::tryAcquire);
          proxy.heal();
          assertThat(late)
              .isInstanceOf(LockException.Unanswered.class)
              .hasMessageContaining("persistent mutex 'm'");
          met = String.valueOf(late.getMessage());
          await().until(() -> !observer.isHeld());
          awaitTheDelayed(mutex);
        }
        assertThat(met).contains(step);
      }
      Lease lease = Fixture.first(mutex);
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
      lease.close();
      assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
      proxy.heal();
      await().until(() -> !observer.isHeld());
      awaitTheDelayed(mutex);
      for (int i = 0; i < 20; i++) {
        Optional<Lease> next = locks.persistentMutex(i % 2 == 0 ? "m" : "other").tryAcquire();
        assertThat(next).hasValueSatisfying(l -> assertThat(l.verify()).isEqualTo(LeaseState.HELD));
        next.orElseThrow().close();
      }
    }
  }

  /**
   * Bytes under way keep their time, and what follows waits behind them. That may be more than the
   * reply that is tested: a channel that could not be prepared in time is closed in the background.
   */
  private static void awaitTheDelayed(AmqpLock mutex) {
    await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
        .until(() -> mutex.tryAcquire().map(PersistentMutexFaultTest::closed).isPresent());
  }

  private static Lease closed(Lease lease) {
    lease.close();
    return lease;
  }

  /** Whoever uses it needs to read only; enabling it takes the right to configure. */
  @Test
  void missingPermissionsAreNamedAndLeaveNothingBehind(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    PersistentMutexAdmin observer = locks.admin().persistentMutex("m");
    String longest = "n".repeat(LockName.MAX_BYTES);
    fixture.enable(locks, longest);
    String ours = "^" + fixture.prefix().replace(".", "\\.");
    try (AmqpLocks reader = as(broker, "^$", "^$", ours)) {
      reader.persistentMutex("m").tryAcquire().orElseThrow().close();
      Lease held = reader.persistentMutex(longest).tryAcquire().orElseThrow();
      assertThat(held.verify()).isEqualTo(LeaseState.HELD);
      assertThatThrownBy(() -> reader.admin().persistentMutex("new").enable())
          .isInstanceOf(LockException.Refused.class)
          .hasMessageContaining("persistent mutex 'new'");
      assertThatThrownBy(() -> reader.admin().persistentMutex("m").disable())
          .isInstanceOf(LockException.Refused.class);
      assertThat(observer.isEnabled()).isTrue();
      broker.faults().deleteUser(USER);
    }
    try (AmqpLocks configurer = as(broker, ours, "^$", "^$")) {
      for (String name : new String[] {"m", longest}) {
        assertThatThrownBy(() -> configurer.persistentMutex(name).tryAcquire())
            .isInstanceOf(LockException.Refused.class)
            .hasMessageContaining(name)
            .hasMessageContaining("consume from queue");
      }
      assertThat(observer.isHeld()).isFalse();
    } finally {
      broker.faults().deleteUser(USER);
    }
    assertThat(fixture.exists(queue("new"))).isFalse();
  }

  private AmqpLocks as(Broker broker, String configure, String write, String read) {
    broker.faults().addUser(USER, "secret", configure, write, read);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(USER);
    factory.setPassword("secret");
    return fixture.builder(factory).build();
  }
}
