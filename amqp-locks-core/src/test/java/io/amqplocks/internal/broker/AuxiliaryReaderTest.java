package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import io.amqplocks.internal.broker.MessageReading.Outcome;
import io.amqplocks.internal.fencing.CounterAdminConnection;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The counter's message comes back from every reader, and counts each. */
@BrokerTest(everyLine = true)
class AuxiliaryReaderTest {

  private static final Duration BOUND = Duration.ofSeconds(10);

  private final ExecutorService background = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private TcpProxy proxy;
  private AuxiliaryReader direct;
  private AuxiliaryReader proxied;
  private final List<AuxiliaryConnection> sides = new ArrayList<>();
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    queue = fixture.prefix() + "counter";
    proxy = TcpProxy.to(broker);
    direct = counters(broker, new Address(broker.host(), broker.port()));
    proxied = counters(broker, new Address(proxy.host(), proxy.port()));
    Connector connector =
        connector(broker, List.of(new Address(broker.host(), broker.port())), BOUND);
    try (CounterAdminConnection connection =
        new CounterAdminConnection(call(BOUND), connector.openAdministrator(call(BOUND)))) {
      connection.make(call(BOUND), queue, "content");
    }
  }

  /** The close finds neither a present connection nor a retired one. */
  @Test
  void aConnectionThatIsRetiredDuringTheCloseIsClosed(Broker broker) {
    List<Runnable> steps = new ArrayList<>();
    AtomicLong now = new AtomicLong();
    AuxiliaryConnection idle =
        new AuxiliaryConnection(
            connector(broker, List.of(new Address(broker.host(), broker.port())), BOUND),
            "side",
            BrokerProfile.of(Map.of("product", broker.product())),
            background,
            () -> {
              if (!steps.isEmpty()) {
                steps.remove(0).run();
              }
              return now.get();
            });
    AuxiliaryConnection.Life life =
        idle.open(Call.on(LockId.mutex("m"), BOUND.multipliedBy(4), Ticker.SYSTEM));
    now.addAndGet(AuxiliaryConnection.LONGEST_IDLE.toNanos());
    // The clock is read to see that it is idle, and again when it is retired.
    steps.add(() -> {});
    steps.add(idle::close);
    idle.closeIfIdle();
    assertThat(steps).isEmpty();
    await().until(() -> !life.connection().isOpen());
  }

  private AuxiliaryReader counters(Broker broker, Address address) {
    return counters(broker, List.of(address), BOUND);
  }

  private AuxiliaryReader counters(Broker broker, List<Address> addresses, Duration callTimeout) {
    Connector connector = connector(broker, addresses, callTimeout);
    AuxiliaryConnection side =
        new AuxiliaryConnection(
            connector,
            "side",
            BrokerProfile.of(Map.of("product", broker.product())),
            background,
            Ticker.SYSTEM);
    sides.add(side);
    return new AuxiliaryReader(side);
  }

  private static Connector connector(Broker broker, List<Address> addresses, Duration callTimeout) {
    return new Connector(
        broker.connectionFactory(),
        addresses,
        "test",
        Duration.ofSeconds(10),
        callTimeout,
        Executors.defaultThreadFactory());
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.mutex("l"), bound, Ticker.SYSTEM);
  }

  @AfterEach
  void close() throws Exception {
    fixture.delete(queue);
    sides.forEach(AuxiliaryConnection::close);
    proxy.close();
    background.shutdownNow();
  }

  @Tag("trap-8")
  @Test
  void eachReadingIsHigherThanTheOneBefore() {
    for (int i = 0; i < 60; i++) {
      MessageReading reading = i % 2 == 0 ? read(direct) : read(proxied);
      assertThat(reading).isEqualTo(new MessageReading(Outcome.READ, "content", i, 0));
    }
    assertThat(direct.read(call(BOUND), queue + "no").outcome()).isEqualTo(Outcome.ABSENT);
  }

  /** A message that another just read may still be on its way back. */
  private MessageReading read(AuxiliaryReader counters) {
    return await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> counters.read(call(BOUND), queue), got -> got.outcome() != Outcome.EMPTY);
  }

  @Tag("trap-6")
  @Test
  void aReadingThatCameTooLateIsPutBack() {
    assertThat(read(proxied).returns()).isZero();
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(8));
    assertThatThrownBy(() -> proxied.read(call(Duration.ofSeconds(1)), queue))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining(queue);
    assertThat(read(direct).returns()).isEqualTo(2);
    proxy.heal();
    assertThat(read(proxied).returns()).isEqualTo(3);
  }

  @Test
  void aReaderThatIsCutOffLosesItToTheOthers() {
    assertThat(read(proxied).returns()).isZero();
    proxy.blackHole(Direction.BROKER_TO_CLIENT);
    assertThatThrownBy(() -> proxied.read(call(Duration.ofSeconds(1)), queue))
        .isInstanceOf(LockException.Unanswered.class);
    // The broker may get the request late.
    await().untilAsserted(() -> assertThat(direct.ready(call(BOUND), queue)).hasValue(0));
    assertThat(direct.read(call(BOUND), queue).outcome()).isEqualTo(Outcome.EMPTY);
    proxy.reset();
    assertThat(read(direct).returns()).isEqualTo(2);
  }

  /** The first answer is in time, the second is not. */
  @Tag("defect-L6")
  @Tag("trap-6")
  @Test
  void allThatWasReadGoesBackWhenALaterAnswerIsOverdue(Broker broker) throws Exception {
    Fences.publish(broker, queue, "second");
    AuxiliaryReader hasty =
        counters(
            broker, List.of(new Address(proxy.host(), proxy.port())), Duration.ofMillis(2_400));
    // The first contact may take longer than the client library waits.
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .untilAsserted(
            () ->
                assertThat(hasty.readAll(call(BOUND), queue))
                    .hasValueSatisfying(all -> assertBoth(all)));
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(3));
    // Longer than the client library waits, and shorter than both answers take.
    assertThatThrownBy(() -> hasty.readAll(call(Duration.ofMillis(4_500)), queue))
        .isInstanceOf(LockException.Unanswered.class);
    proxy.heal();
    // Neither stays hidden, and no later question gets the overdue answer.
    await().untilAsserted(() -> assertThat(direct.ready(call(BOUND), queue)).hasValue(2));
    for (int i = 0; i < 5; i++) {
      assertThat(hasty.exists(call(BOUND), queue)).isTrue();
      assertThat(hasty.ready(call(BOUND), queue + "no")).isEmpty();
      assertThat(hasty.readAll(call(BOUND), queue)).hasValueSatisfying(all -> assertBoth(all));
    }
  }

  /**
   * As long as the call, and not as one address after the other takes; what opens later is closed.
   */
  @Tag("defect-L5")
  @Test
  void anAdministratorIsNotWaitedForLongerThanItsCall(Broker broker) {
    Address slow = new Address(proxy.host(), proxy.port());
    Connector several = connector(broker, List.of(slow, slow, slow), Duration.ofSeconds(10));
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(4));
    long start = System.nanoTime();
    assertThatThrownBy(() -> several.openAdministrator(call(Duration.ofSeconds(1))))
        .isInstanceOf(LockException.Unanswered.class);
    // One address takes three answers, which come after 12 s, or is given up after 10 s.
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
    proxy.heal();
    await().until(() -> proxy.connections() == 0);
    try (CounterAdminConnection connection =
        new CounterAdminConnection(call(BOUND), several.openAdministrator(call(BOUND)))) {
      assertThat(connection.exists(call(BOUND), queue)).isTrue();
    }
  }

  private static void assertBoth(List<String> texts) {
    assertThat(texts).containsExactlyInAnyOrder("content", "second");
  }
}
