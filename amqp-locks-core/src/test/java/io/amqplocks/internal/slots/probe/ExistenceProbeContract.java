package io.amqplocks.internal.slots.probe;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;
import static io.amqplocks.internal.slots.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
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
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every way of probing must do, on every line. */
@BrokerTest(everyLine = true, ownBroker = true)
abstract class ExistenceProbeContract {

  static final String USER = "locks-probe";
  static final Duration BOUND = Duration.ofMillis(500);

  /** So few that a channel lost a call would show within one test. */
  private static final int CHANNELS = PassiveProbe.MOST_CHANNELS + 8;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<ProberSession> sessions = new ArrayList<>();
  final ExistenceProbe probe = probe();
  private ProbedQueues queues;
  String prefix;

  abstract ExistenceProbe probe();

  @BeforeEach
  void connect(Broker broker) throws Exception {
    prefix = new Fixture(broker).prefix();
    queues = new ProbedQueues(broker, prefix);
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    sessions.forEach(ProberSession::close);
    queues.close();
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

  String held(String name) throws Exception {
    return queues.held(name);
  }

  String slot(String name) throws Exception {
    return queues.slot(name);
  }

  String nacking(String name) throws Exception {
    return queues.nacking(name);
  }

  private List<Presence> ask(ProberSession session, String... names) {
    return probe.probe(session.call(), session.prober(), List.of(names));
  }

  @Test
  void tellsPresentFromAbsent(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    String slot = queues.slot("slot");
    String held = held("held");
    assertThat(ask(session, slot)).containsExactly(PRESENT);
    assertThat(ask(session, prefix + "no")).containsExactly(ABSENT);
    assertThat(ask(session, held)).as("another connection's own").containsExactly(PRESENT);
    assertThat(ask(session)).isEmpty();
    queues.delete(held);
    assertThat(ask(session, prefix + "no", held, slot)).containsExactly(ABSENT, ABSENT, PRESENT);
  }

  @Test
  void answersBatchesInTheirOrderAndKeepsNothing(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    List<String> present = queues.slotsAndHeld(20);
    Random random = new Random(42);
    for (int size : new int[] {1, 10, 300, 2, 300}) {
      List<String> batch = queues.mixed(random, present, size);
      assertThat(probe.probe(session.call(), session.prober(), batch))
          .isEqualTo(ProbedQueues.expected(batch, present));
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
    List<String> present = queues.slotsAndHeld(10);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Random random = new Random(i);
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 40; round++) {
                  List<String> batch = queues.mixed(random, present, 1 + random.nextInt(12));
                  assertThat(
                          probe.probe(
                              session.call(Duration.ofSeconds(10)), session.prober(), batch))
                      .isEqualTo(ProbedQueues.expected(batch, present));
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
      await().pollDelay(Duration.ofSeconds(1)).until(() -> !asking.isDone());
      proxy.reset();
      assertThatThrownBy(() -> asking.get(25, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Unreachable.class)
          .hasMessageContaining("semaphore 's'");
      proxy.heal();
      await()
          .ignoreExceptionsInstanceOf(LockException.Unreachable.class)
          .untilAsserted(
              () -> assertThat(ask(session, prefix + "no", held)).containsExactly(ABSENT, PRESENT));
    }
  }

  /** The late answers of the frozen broker are for the old rpc, not for the new ones. */
  @Tag("trap-6")
  @Test
  void aFrozenBrokerIsUnknownWithinTheBoundAndItsLateAnswersAreDropped(Broker broker)
      throws Exception {
    ProberSession session = session(broker.connectionFactory(), BOUND);
    List<String> present = queues.slotsAndHeld(3);
    List<String> batch = queues.mixed(new Random(7), present, 12);
    List<String> reversed = new ArrayList<>(batch);
    Collections.reverse(reversed);
    // The first contact may take longer than the bound.
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .untilAsserted(
            () ->
                assertThat(probe.probe(session.call(), session.prober(), batch))
                    .isEqualTo(ProbedQueues.expected(batch, present)));
    broker.faults().freeze();
    try {
      // A signal does not stop all threads of the server at once.
      await()
          .until(
              () ->
                  probe
                      .probe(session.call(), session.prober(), batch)
                      .equals(Collections.nCopies(12, UNKNOWN)));
      for (List<String> each : List.of(batch, reversed)) {
        long start = System.nanoTime();
        assertThat(probe.probe(session.call(), session.prober(), each))
            .containsOnly(UNKNOWN)
            .hasSize(each.size());
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .as("the bound of half a second, not that of the connection")
            .isLessThan(Duration.ofSeconds(15));
      }
    } finally {
      broker.faults().thaw();
    }
    for (List<String> each : List.of(reversed, batch, reversed)) {
      await()
          .ignoreExceptionsInstanceOf(LockException.class)
          .untilAsserted(
              () ->
                  assertThat(probe.probe(session.call(), session.prober(), each))
                      .isEqualTo(ProbedQueues.expected(each, present)));
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
}
