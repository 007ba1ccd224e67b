package io.amqplocks.internal.probe;

import static io.amqplocks.internal.probe.Presence.ABSENT;
import static io.amqplocks.internal.probe.Presence.PRESENT;
import static io.amqplocks.internal.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every way of probing must do, on every line. */
@BrokerTest(everyLine = true)
abstract class ExistenceProbeContract {

  static final String USER = "locks-probe";
  static final Duration BOUND = Duration.ofMillis(500);

  /** So few that a channel lost a call would show within one test. */
  private static final int CHANNELS = PassiveProbe.MOST_CHANNELS + 8;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<ProberSession> sessions = new ArrayList<>();
  private final List<String> slots = new ArrayList<>();
  final ExistenceProbe probe = probe();
  private Connection others;
  private Channel othersChannel;
  String prefix;

  abstract ExistenceProbe probe();

  @BeforeEach
  void connect(Broker broker) throws Exception {
    prefix = new Fixture(broker).prefix();
    others = broker.connectionFactory().newConnection("others");
    othersChannel = others.createChannel();
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    sessions.forEach(ProberSession::close);
    for (String slot : slots) {
      othersChannel.queueDelete(slot);
    }
    others.abort(1000);
  }

  ProberSession session(ConnectionFactory factory) {
    return session(factory, Duration.ofSeconds(5));
  }

  ProberSession session(ConnectionFactory factory, Duration callTimeout) {
    factory.setRequestedChannelMax(CHANNELS);
    ProberSession session = new ProberSession(factory, prefix, callTimeout);
    sessions.add(session);
    return session;
  }

  /** Exclusive to another connection, as a slot's B is. */
  String held(String name) throws Exception {
    othersChannel.asyncCompletableRpc(QueueArguments.exclusive(prefix + name)).get();
    return prefix + name;
  }

  /** For all to see, as a slot's A is. */
  String slot(String name) throws Exception {
    othersChannel.asyncCompletableRpc(QueueArguments.slot(prefix + name)).get();
    slots.add(prefix + name);
    return prefix + name;
  }

  private List<String> slotsAndHeld(int count) throws Exception {
    List<String> present = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      present.add(i % 2 == 0 ? slot("slot-" + i) : held("held-" + i));
    }
    return present;
  }

  /** Refuses every message: what a queue may do that our own arguments keep ours from doing. */
  String nacking(String name) throws Exception {
    Map<String, Object> arguments = Map.of("x-max-length", 0, "x-overflow", "reject-publish");
    othersChannel.queueDeclare(prefix + name, false, true, false, arguments);
    return prefix + name;
  }

  private List<Presence> ask(ProberSession session, String... queues) {
    return probe.probe(session.call(), session.prober(), List.of(queues));
  }

  @Test
  void tellsPresentFromAbsent(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    String slot = slot("slot");
    String held = held("held");
    assertThat(ask(session, slot)).containsExactly(PRESENT);
    assertThat(ask(session, prefix + "no")).containsExactly(ABSENT);
    assertThat(ask(session, held)).as("another connection's own").containsExactly(PRESENT);
    assertThat(ask(session)).isEmpty();
    othersChannel.queueDelete(held);
    assertThat(ask(session, prefix + "no", held, slot)).containsExactly(ABSENT, ABSENT, PRESENT);
  }

  @Test
  void answersBatchesInTheirOrderAndKeepsNothing(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    List<String> present = slotsAndHeld(20);
    Random random = new Random(42);
    for (int size : new int[] {1, 10, 300, 2, 300}) {
      List<String> queues = mixed(random, present, size);
      assertThat(probe.probe(session.call(), session.prober(), queues))
          .isEqualTo(expected(queues, present));
    }
    assertThat(broker.faults().queues())
        .filteredOn(queue -> queue.name().startsWith(prefix))
        .hasSize(20)
        .extracting(BrokerQueue::messages)
        .containsOnly(0L);
  }

  /** More rounds than channels: one that is not given back, or not closed, is one too many. */
  @Test
  void losesNoChannelsToEightThreads(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    List<String> present = slotsAndHeld(10);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Random random = new Random(i);
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 40; round++) {
                  List<String> queues = mixed(random, present, 1 + random.nextInt(12));
                  assertThat(
                          probe.probe(
                              session.call(Duration.ofSeconds(10)), session.prober(), queues))
                      .isEqualTo(expected(queues, present));
                }
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(broker.faults().connections())
        .filteredOn(name -> name.equals(prefix + " prober"))
        .as("it never had to open another connection")
        .hasSize(1);
  }

  @Test
  void aBrokenConnectionIsAnErrorAndTheNextCallOpensAnother(Broker broker) throws Exception {
    String held = held("held");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ProberSession session = session(through(proxy, broker));
      assertThat(ask(session, held)).containsExactly(PRESENT);
      proxy.blackHole(Direction.BROKER_TO_CLIENT);
      Future<List<Presence>> asking =
          threads.submit(
              () ->
                  probe.probe(
                      session.call(Duration.ofSeconds(30)), session.prober(), List.of(held)));
      await().pollDelay(Duration.ofMillis(100)).until(() -> !asking.isDone());
      proxy.reset();
      assertThatThrownBy(() -> asking.get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Unreachable.class)
          .hasMessageContaining("semaphore 's'");
      proxy.heal();
      await()
          .ignoreExceptionsInstanceOf(LockException.Unreachable.class)
          .untilAsserted(
              () -> assertThat(ask(session, prefix + "no", held)).containsExactly(ABSENT, PRESENT));
    }
  }

  /** The late answers of the frozen broker are for the old questions, not for the new ones. */
  @Tag("trap-6")
  @Test
  void aFrozenBrokerIsUnknownWithinTheBoundAndItsLateAnswersAreDropped(Broker broker)
      throws Exception {
    ProberSession session = session(broker.connectionFactory(), BOUND);
    List<String> present = slotsAndHeld(3);
    List<String> queues = mixed(new Random(7), present, 12);
    List<String> reversed = new ArrayList<>(queues);
    Collections.reverse(reversed);
    assertThat(probe.probe(session.call(), session.prober(), queues))
        .isEqualTo(expected(queues, present));
    broker.faults().freeze();
    try {
      // A signal does not stop all threads of the server at once.
      await()
          .until(
              () ->
                  probe
                      .probe(session.call(), session.prober(), queues)
                      .equals(Collections.nCopies(12, UNKNOWN)));
      for (List<String> each : List.of(queues, reversed)) {
        long start = System.nanoTime();
        assertThat(probe.probe(session.call(), session.prober(), each))
            .containsOnly(UNKNOWN)
            .hasSize(each.size());
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .as("the bound, and the same again for opening a channel")
            .isLessThan(BOUND.multipliedBy(2).plusMillis(400));
      }
    } finally {
      broker.faults().thaw();
    }
    for (List<String> each : List.of(reversed, queues, reversed)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(probe.probe(session.call(), session.prober(), each))
                      .isEqualTo(expected(each, present)));
    }
  }

  @Test
  void aMissingPermissionIsAnError(Broker broker) throws Exception {
    String held = held("held");
    broker.faults().addUser(USER, "secret", "^$", "^$", "^$");
    try {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setUsername(USER);
      factory.setPassword("secret");
      withoutPermissions(broker, session(factory), held);
    } finally {
      broker.faults().deleteUser(USER);
    }
  }

  void withoutPermissions(Broker broker, ProberSession session, String held) {
    assertThatThrownBy(() -> ask(session, held))
        .isInstanceOf(LockException.Refused.class)
        .hasMessageContaining("semaphore 's'")
        .hasMessageContaining("permissions");
  }

  static ConnectionFactory through(TcpProxy proxy, Broker broker) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }

  private List<String> mixed(Random random, List<String> present, int size) {
    List<String> queues =
        new ArrayList<>(
            IntStream.range(0, size)
                .mapToObj(
                    i -> i % 3 == 0 && i / 3 < present.size() ? present.get(i / 3) : prefix + i)
                .toList());
    Collections.shuffle(queues, random);
    return queues;
  }

  private static List<Presence> expected(List<String> queues, List<String> present) {
    return queues.stream().map(queue -> present.contains(queue) ? PRESENT : ABSENT).toList();
  }
}
