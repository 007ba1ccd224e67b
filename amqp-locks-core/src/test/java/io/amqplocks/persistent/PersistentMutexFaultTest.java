package io.amqplocks.persistent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The persistent mutex where the broker, the network, strangers or permissions do not play along.
 */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class PersistentMutexFaultTest {

  private static final String USER = "locks-persistent";

  private static final Duration LONG = Duration.ofMinutes(1);

  private static final Map<String, Object> QUORUM = Map.of("x-queue-type", "quorum");

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

  /** The raw fact for which a quorum queue guards no lock by exclusive consumers. */
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
          .hasRootCauseMessage(inExclusiveUse(classic));
    }
  }

  private static String inExclusiveUse(String queue) {
    return "channel error; protocol method: #method<channel.close>(reply-code=403,"
        + " reply-text=ACCESS_REFUSED - queue '"
        + queue
        + "' in vhost '/' in exclusive use, class-id=60, method-id=20)";
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
        .hasMessageContaining("inequivalent arg")
        .hasMessageContaining("delete it");
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("persistent mutex 'm'")
          .hasMessageContaining(queue("m"))
          .hasMessageContaining("delete it, and enable");
      await().until(() -> !admin.isHeld());
    }
    admin.disable();
    admin.enable();
    locks.persistentMutex("m").tryAcquire().orElseThrow().close();
    // Also when it is replaced after it was proven to be classic, and seen to go in between.
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    admin.disable();
    declare(broker, queue("m"), QUORUM);
    lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
    AtomicInteger admitted = new AtomicInteger();
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () ->
                            locks
                                .persistentMutex("m")
                                .tryAcquire()
                                .ifPresent(wrong -> admitted.incrementAndGet()))
                    .isInstanceOf(LockException.Conflict.class));
    assertThat(admitted).hasValue(0);
  }

  /**
   * On 4.x both can have a message for several clients each, and count what they are about to send,
   * or what they keep for ever. No classic queue admits an exclusive consumer beside another one.
   */
  @Tag("trap-16")
  @ParameterizedTest
  @ValueSource(strings = {"quorum", "stream"})
  void aQueueOfAnotherTypeIsRefusedWhateverItSends(String type, Broker broker) throws Exception {
    Map<String, Object> arguments = new HashMap<>(Map.of("x-queue-type", type));
    if (type.equals("quorum")) {
      arguments.put("x-single-active-consumer", true);
    }
    declare(broker, queue("m"), arguments);
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      List<AmqpLocks> clients = List.of(fixture.open(), fixture.open());
      List<Lease> others = new ArrayList<>();
      List<CompletableFuture<Lease>> all = new ArrayList<>();
      for (AmqpLocks client : clients) {
        String own = others.size() + "-";
        // So that there are channels to spare, and none is opened meanwhile.
        for (Lease each :
            List.of(first(client, own + "a"), first(client, own + "b"), first(client, own + "c"))) {
          each.close();
        }
        others.add(first(client, own + "held"));
        all.add(client.persistentMutex("m").acquireAsync(LONG));
      }
      await()
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                channel.basicPublish("", queue("m"), null, new byte[0]);
                return all.stream().allMatch(CompletableFuture::isDone);
              });
      for (CompletableFuture<Lease> each : all) {
        assertThatThrownBy(each::get)
            .hasCauseInstanceOf(LockException.class)
            .hasMessageContaining("persistent mutex 'm'")
            .hasMessageContaining("delete");
      }
      // What the error says. A channel that knows the old queue would cost its connection now.
      clients.get(0).admin().persistentMutex("m").disable();
      fixture.enable(clients.get(0), "m");
      for (AmqpLocks client : clients) {
        Fixture.first(client.persistentMutex("m")).close();
      }
      assertThat(others).extracting(Lease::verify).containsOnly(LeaseState.HELD);
    }
  }

  private static Lease first(AmqpLocks client, String mutex) {
    return Fixture.first(client.mutex(mutex));
  }

  /** A policy can make the queue drop what nobody takes at once. */
  @Test
  void aQueueThatKeepsNoMessageIsNamed(Broker broker) {
    AmqpLocks locks = fixture.open(fixture.builder().callTimeout(Duration.ofSeconds(3)));
    fixture.enable(locks, "m");
    broker.faults().setPolicy("drops", "^" + fixture.prefix(), "queues", "{\"message-ttl\": 0}");
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> locks.persistentMutex("m").tryAcquire().ifPresent(Lease::close))
                    .isInstanceOf(LockException.Unanswered.class)
                    .hasMessageContaining("persistent mutex 'm'")
                    .hasMessageContaining(queue("m"))
                    .hasMessageContaining("message-ttl"));
    broker.faults().clearPolicy("drops");
    Fixture.first(locks.persistentMutex("m")).close();
  }

  /** It would stay in front, and tell no holder whether the queue is the one that was proven. */
  @Test
  void aStrangersMessageIsReplaced(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.basicPublish("", queue("m"), null, new byte[0]);
      await().until(() -> channel.messageCount(queue("m")) == 1);
      Lease lease = Fixture.first(locks.persistentMutex("m"));
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        waiting.add(fixture.open().persistentMutex("m").acquireAsync(LONG));
        fixture.awaitConsumers(queue("m"), 2 + i);
      }
      lease.close();
      for (CompletableFuture<Lease> each : waiting) {
        // With more than one waiter nobody looks for a message that is not sent.
        each.get(30, TimeUnit.SECONDS).close();
      }
      await().until(() -> channel.consumerCount(queue("m")) == 0);
      await().until(() -> channel.messageCount(queue("m")) > 0);
      List<String> kept = new ArrayList<>();
      for (GetResponse got = channel.basicGet(queue("m"), false);
          got != null;
          got = channel.basicGet(queue("m"), false)) {
        kept.add(String.valueOf(got.getProps().getMessageId()));
      }
      assertThat(kept).as("ours have a random UUID").allMatch(id -> id.length() == 36);
    }
  }

  /** Each of several clients would be sent a message. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void aQueueThatServesSeveralConsumersIsRefused(int messages, Broker broker) throws Exception {
    declare(broker, queue("m"), Map.of("x-queue-type", "classic"));
    List<AmqpLocks> clients = List.of(fixture.open(), fixture.open(), fixture.open());
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      for (int i = 0; i < messages; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      await().until(() -> channel.messageCount(queue("m")) == messages);
      for (AmqpLocks client : clients) {
        for (Duration wait : List.of(Duration.ZERO, LONG)) {
          assertThatThrownBy(() -> client.persistentMutex("m").acquire(wait))
              .isInstanceOf(LockException.Conflict.class)
              .hasMessageContaining("persistent mutex 'm'")
              .hasMessageContaining("serves several consumers")
              .hasMessageContaining("delete it, and enable");
        }
        assertThat(client.status().held()).isZero();
      }
      await().until(() -> channel.consumerCount(queue("m")) == 0);
    }
    assertThatThrownBy(() -> clients.get(0).admin().persistentMutex("m").enable())
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("inequivalent arg")
        .hasMessageContaining("delete it");
  }

  /** Each consumer of one client takes messages that another client needs to prove the queue. */
  @Test
  void aQueueThatServesSeveralConsumersIsRefusedByAllWhoTryAtOnce(Broker broker) throws Exception {
    declare(broker, queue("m"), Map.of("x-queue-type", "classic"));
    List<CompletableFuture<Lease>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      AmqpLock mutex = fixture.open().persistentMutex("m");
      all.add(mutex.acquireAsync(LONG));
      all.add(mutex.acquireAsync(LONG));
    }
    for (CompletableFuture<Lease> each : all) {
      assertThatThrownBy(() -> each.get(90, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Conflict.class);
    }
  }

  /**
   * No session saw the queue go. But a client that acquires from the new one is sent a message that
   * it never saw.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void aQueueThatWasReplacedUnseenIsRefusedByThoseWhoKnewIt(int messages, Broker broker)
      throws Exception {
    List<AmqpLocks> clients = List.of(enabled("m"), fixture.open(), fixture.open());
    for (AmqpLocks client : clients) {
      client.persistentMutex("m").acquire(LONG).close();
    }
    await().until(() -> !clients.get(0).admin().persistentMutex("m").isHeld());
    fixture.delete(queue("m"));
    declare(broker, queue("m"), Map.of("x-queue-type", "classic"));
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      for (int i = 0; i < messages; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      await().until(() -> channel.messageCount(queue("m")) == messages);
    }
    for (int i = 0; i < 2; i++) {
      for (AmqpLocks client : clients) {
        assertThatThrownBy(() -> client.persistentMutex("m").acquire(LONG))
            .isInstanceOf(LockException.Conflict.class);
      }
    }
  }

  /** Without a message nobody can be served, and none is accepted. */
  @Test
  void anAlarmIsNamedWhereAMessageIsMissing(Broker broker) throws Exception {
    AmqpLocks locks = enabled("known");
    locks.persistentMutex("known").tryAcquire().orElseThrow().close();
    fixture.enable(locks, "new");
    broker.faults().memoryAlarm(true);
    try {
      assertThatThrownBy(() -> fixture.open().persistentMutex("new").tryAcquire())
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("accepts no messages for now")
          .hasMessageContaining("persistent mutex 'new'");
      for (AmqpLocks each : List.of(locks, fixture.open())) {
        try (Lease lease = Fixture.first(each.persistentMutex("known"))) {
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
      }
    } finally {
      broker.faults().memoryAlarm(false);
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
        try (Lease lease = Fixture.first(locks.persistentMutex("m"))) {
          for (int i = 0; i < 20_000; i++) {
            channel.basicPublish("", queue("m"), null, new byte[100]);
          }
          assertThat(lease.verify()).as(() -> "" + lease.lossReason()).isEqualTo(LeaseState.HELD);
          // All but one are refused.
          assertThat(channel.waitForConfirms(60_000)).isFalse();
          assertThat(channel.queueDeclarePassive(queue("m")).getConsumerCount()).isEqualTo(1);
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
        await().until(() -> !admin.isHeld());
        await().until(() -> channel.messageCount(queue("m")) <= 2);
      }
    }
  }

  /** As a client in another language, which proves nothing before. */
  @Test
  void aStrangersActiveConsumerHolds(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = stranger.createChannel();
      channel.basicQos(1);
      String tag = channel.basicConsume(queue("m"), false, (same, message) -> {}, same -> {});
      for (int i = 0; i < 3; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      assertThat(locks.admin().persistentMutex("m").isHeld()).isTrue();
      assertThat(locks.persistentMutex("m").tryAcquire()).isEmpty();
      channel.basicCancel(tag);
      channel.basicRecover(true);
      Fixture.first(locks.persistentMutex("m")).close();
    }
  }

  /** Processes of a version that consumed exclusively get an error, and not the lock twice. */
  @Test
  void theQueueOfAnOlderVersionIsRefused(Broker broker) throws Exception {
    declare(
        broker,
        queue("m"),
        Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head"));
    AmqpLocks locks = fixture.open();
    assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("delete it, and enable");
    try (Connection older = broker.connectionFactory().newConnection("older")) {
      consume(older, queue("m"));
      assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("uses it exclusively");
    }
    PersistentMutexAdmin admin = locks.admin().persistentMutex("m");
    assertThatThrownBy(admin::enable).isInstanceOf(LockException.Conflict.class);
    admin.disable();
    fixture.enable(locks, "m");
    try (Connection older = broker.connectionFactory().newConnection("older")) {
      assertThatThrownBy(() -> consume(older, queue("m")))
          .hasRootCauseMessage(inExclusiveUse(queue("m")));
    }
    locks.persistentMutex("m").tryAcquire().orElseThrow().close();
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

  /** Ends a call in each of its steps: the look, the consume, the proof, the release. */
  @Tag("trap-6")
  @Test
  void whatIsAnsweredTooLateIsUndoneAndTakenForNothingElse(Broker broker) throws Exception {
    PersistentMutexAdmin observer = enabled("m").admin().persistentMutex("m");
    fixture.enable(fixture.open(), "other");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = through(proxy, broker);
      AmqpLock mutex = locks.persistentMutex("m");
      Fixture.first(locks.persistentMutex("other")).close();
      Map<Integer, String> steps = new LinkedHashMap<>();
      steps.put(8000, "look for queue");
      steps.put(3400, "consume from queue");
      steps.put(700, "look at queue");
      for (Map.Entry<Integer, String> step : steps.entrySet()) {
        // A machine that stalls uses the time up before the step that is meant.
        String met = "";
        for (int i = 0; i < 4 && !met.contains(step.getValue()); i++) {
          proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(step.getKey()));
          Throwable late = catchThrowable(mutex::tryAcquire);
          proxy.heal();
          assertThat(late)
              .isInstanceOf(LockException.Unanswered.class)
              .hasMessageContaining("persistent mutex 'm'");
          met = String.valueOf(late.getMessage());
          await().until(() -> !observer.isHeld());
          awaitTheDelayed(locks.persistentMutex("other"));
        }
        assertThat(met).contains(step.getValue());
      }
      Lease lease = Fixture.first(mutex);
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
      lease.close();
      assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
      proxy.heal();
      await().until(() -> !observer.isHeld());
      awaitTheDelayed(mutex);
      for (int i = 0; i < 20; i++) {
        try (Lease next = Fixture.first(locks.persistentMutex(i % 2 == 0 ? "m" : "other"))) {
          assertThat(next.verify()).isEqualTo(LeaseState.HELD);
        }
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

  /** Whoever uses it needs to read and to publish; enabling it takes the right to configure. */
  @Test
  void missingPermissionsAreNamedAndLeaveNothingBehind(Broker broker) throws Exception {
    AmqpLocks locks = enabled("m");
    PersistentMutexAdmin observer = locks.admin().persistentMutex("m");
    String longest = "n".repeat(LockName.MAX_BYTES);
    fixture.enable(locks, longest);
    String ours = "^" + fixture.prefix().replace(".", "\\.");
    try (AmqpLocks reader = as(broker, "^$", "^amq\\.default$", ours)) {
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
    fixture.enable(locks, "unused");
    try (AmqpLocks silent = as(broker, "^$", "^$", ours)) {
      assertThatThrownBy(() -> silent.persistentMutex("unused").tryAcquire())
          .isInstanceOf(LockException.Refused.class)
          .hasMessageContaining("publish to queue")
          .hasMessageContaining("write on 'amq.default'");
    } finally {
      broker.faults().deleteUser(USER);
    }
  }

  private AmqpLocks as(Broker broker, String configure, String write, String read) {
    broker.faults().addUser(USER, "secret", configure, write, read);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(USER);
    factory.setPassword("secret");
    return fixture.builder(factory).build();
  }
}
