package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import io.amqplocks.internal.session.CounterReading.Outcome;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The counter's message comes back from every reader, and counts each. */
@BrokerTest(everyLine = true)
class CounterQueuesTest {

  private static final Duration BOUND = Duration.ofSeconds(10);

  private final ExecutorService background = Executors.newCachedThreadPool();
  private Fixture fixture;
  private TcpProxy proxy;
  private CounterQueues direct;
  private CounterQueues proxied;
  private final List<SideConnection> sides = new ArrayList<>();
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    fixture = new Fixture(broker);
    queue = fixture.prefix() + "counter";
    proxy = TcpProxy.to(broker);
    direct = counters(broker, new Address(broker.host(), broker.port()));
    proxied = counters(broker, new Address(proxy.host(), proxy.port()));
    try (CounterKeeper keeper = direct.administrate(call(BOUND))) {
      keeper.make(call(BOUND), queue, "content");
    }
  }

  private CounterQueues counters(Broker broker, Address address) {
    return counters(broker, address, BOUND);
  }

  private CounterQueues counters(Broker broker, Address address, Duration callTimeout) {
    Connector connector =
        new Connector(
            broker.connectionFactory(),
            List.of(address),
            "test",
            Duration.ofSeconds(10),
            callTimeout,
            Executors.defaultThreadFactory());
    SideConnection side = new SideConnection(connector, background, callTimeout, Ticker.SYSTEM);
    sides.add(side);
    return new CounterQueues(side, connector, callTimeout);
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.mutex("l"), bound, Ticker.SYSTEM);
  }

  @AfterEach
  void close() throws Exception {
    fixture.delete(queue);
    sides.forEach(SideConnection::close);
    proxy.close();
    background.shutdownNow();
    fixture.close();
  }

  @Tag("trap-8")
  @Test
  void eachReadingIsHigherThanTheOneBefore() {
    for (int i = 0; i < 60; i++) {
      CounterReading reading = i % 2 == 0 ? read(direct) : read(proxied);
      assertThat(reading).isEqualTo(new CounterReading(Outcome.READ, "content", i, 0));
    }
    assertThat(direct.read(call(BOUND), queue + "no").outcome()).isEqualTo(Outcome.ABSENT);
  }

  /** A message that another just read may still be on its way back. */
  private CounterReading read(CounterQueues counters) {
    return await()
        .until(() -> counters.read(call(BOUND), queue), got -> got.outcome() != Outcome.EMPTY);
  }

  @Tag("trap-6")
  @Test
  void aReadingThatCameTooLateIsPutBack() {
    assertThat(read(proxied).returns()).isZero();
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(2));
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
    CounterQueues hasty =
        counters(broker, new Address(proxy.host(), proxy.port()), Duration.ofMillis(800));
    assertThat(hasty.readAll(call(BOUND), queue)).hasValueSatisfying(all -> assertBoth(all));
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(1));
    // Longer than the client library waits, and shorter than both answers take.
    assertThatThrownBy(() -> hasty.readAll(call(Duration.ofMillis(1_500)), queue))
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

  private static void assertBoth(List<String> texts) {
    assertThat(texts).containsExactlyInAnyOrder("content", "second");
  }
}
