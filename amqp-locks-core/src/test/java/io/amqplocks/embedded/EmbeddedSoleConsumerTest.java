package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.consumer.SoleConsumerBuilder;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LogWatch;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sole consumers on the broker in the JVM, and what of them is refused there. */
@BrokerTest(embedded = true)
class EmbeddedSoleConsumerTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<SoleConsumer> consumers = new ArrayList<>();
  private final List<Integer> handled = new CopyOnWriteArrayList<>();
  private String queue = "";
  private Connection stranger;
  private Channel channel;

  @BeforeEach
  void declare() throws Exception {
    queue = fixture.prefix() + "orders";
    stranger = fixture.stranger();
    channel = stranger.createChannel();
    channel.confirmSelect();
    channel.queueDeclare(queue, true, false, false, null);
  }

  @AfterEach
  void close() {
    consumers.forEach(SoleConsumer::close);
    stranger.abort();
  }

  private void publish(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      channel.basicPublish("", queue, null, Integer.toString(i).getBytes(StandardCharsets.UTF_8));
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  private void handle(Delivery delivery) {
    handled.add(Integer.parseInt(new String(delivery.body(), StandardCharsets.UTF_8)));
  }

  private static List<Integer> numbers(int to) {
    return IntStream.range(0, to).boxed().toList();
  }

  private SoleConsumerBuilder on(AmqpLocks locks) {
    return SoleConsumer.of(
        locks.mutex("sole"), fixture.broker().connectionFactory(), queue, this::handle);
  }

  private SoleConsumer kept(SoleConsumerBuilder settings) {
    SoleConsumer consumer = settings.build();
    consumers.add(consumer);
    return consumer;
  }

  private void awaitHandled(int messages) {
    await().untilAsserted(() -> assertThat(handled).hasSizeGreaterThanOrEqualTo(messages));
  }

  @Test
  void eachMessageIsHandledOnceAndInOrderAlsoAfterAHandOver() throws Exception {
    SoleConsumer one = kept(on(fixture.open()));
    one.start();
    assertThat(one.awaitActive(LONG)).isTrue();
    SoleConsumer other = kept(on(fixture.open()).standByConnected());
    other.start();
    // Whoever hands over is back after two seconds, unless somebody waits.
    String lock = fixture.names().mutex(LockName.of("sole"));
    await().until(() -> channel.consumerCount(lock) == 2);
    publish(0, 200);
    awaitHandled(100);
    assertThat(other.isActive()).isFalse();
    assertThat(one.handOver()).isTrue();
    publish(200, 400);
    awaitHandled(400);
    assertThat(other.isActive()).isTrue();
    other.close();
    assertThat(one.awaitActive(LONG)).isTrue();
    publish(400, 500);
    awaitHandled(500);
    assertThat(handled).isEqualTo(numbers(500));
    one.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  /** Whoever does not use the lock is refused, and loses its own connection. */
  @Test
  void othersAreRefusedWhileOneConsumes() throws Exception {
    SoleConsumer one = kept(on(fixture.open()));
    one.start();
    publish(0, 1);
    awaitHandled(1);
    Connection other = fixture.stranger();
    Channel theirs = other.createChannel();
    assertThatThrownBy(() -> theirs.basicConsume(queue, (tag, message) -> {}, tag -> {}))
        .isInstanceOf(IOException.class);
    other.abort();
    publish(1, 50);
    awaitHandled(50);
    assertThat(handled).isEqualTo(numbers(50));
  }

  /** Its handler hangs meanwhile. The order is not promised after a loss. */
  @Test
  void anotherHandlesAllMessagesWhenTheConnectionOfTheLockEnds() throws Exception {
    OpenedConnections ofLocks = new OpenedConnections(fixture.broker());
    CountDownLatch stuck = new CountDownLatch(1);
    AtomicInteger begun = new AtomicInteger();
    SoleConsumer one =
        kept(
            SoleConsumer.of(
                    fixture.open(fixture.builder(ofLocks)).mutex("sole"),
                    fixture.broker().connectionFactory(),
                    queue,
                    delivery -> {
                      begun.incrementAndGet();
                      stuck.await();
                    })
                .grace(Duration.ofMillis(100)));
    one.start();
    publish(0, 100);
    await().until(() -> begun.get() == 1);
    SoleConsumer other = kept(on(fixture.open()));
    other.start();
    ofLocks.all().forEach(connection -> connection.abort(0));
    awaitHandled(100);
    assertThat(handled).containsExactlyInAnyOrderElementsOf(numbers(100));
    assertThat(begun).hasValue(1);
    stuck.countDown();
  }

  /** By the methods of the API that ask for them. */
  private static SoleConsumerBuilder with(String setting, SoleConsumerBuilder settings) {
    return switch (setting) {
      case "activeQueue" -> settings.activeQueue("amq.topic", "#");
      case "handOverOnRequest" -> settings.handOverOnRequest();
      case "standByConnected" -> settings.standByConnected();
      default -> settings;
    };
  }

  /** What CONTRACT says of each on the broker in the JVM. */
  @ParameterizedTest
  @ValueSource(strings = {"start", "standByConnected", "handOverOnRequest", "activeQueue"})
  void eachEndsAsThePageSays(String setting) throws Exception {
    String end = "passes";
    publish(0, 20);
    try {
      kept(with(setting, on(fixture.open()))).start();
      awaitHandled(20);
      assertThat(handled).isEqualTo(numbers(20));
    } catch (LockException.Unsupported refusal) {
      end = "refused";
    }
    Path page = Path.of("").toAbsolutePath().resolveSibling("docs").resolve("CONTRACT.md");
    assertThat(Files.readAllLines(page))
        .filteredOn(line -> line.contains("| `" + setting + "` |"))
        .singleElement()
        .asString()
        .endsWith("| passes | " + end + " |");
  }

  /** The broker would close the connection of the active one, again and again. */
  @ParameterizedTest
  @ValueSource(strings = {"activeQueue", "handOverOnRequest"})
  void whatNeedsMoreThanAQueueIsRefusedAtTheStartAndLeavesNothing(String setting) throws Exception {
    AmqpLocks locks = fixture.open();
    SoleConsumer consumer = kept(with(setting, on(locks).standByConnected()));
    for (ThrowingCallable start :
        List.<ThrowingCallable>of(
            consumer::start, consumer::tryStart, () -> consumer.takeOver(LONG), consumer::start)) {
      assertThatThrownBy(start)
          .isInstanceOf(LockException.Unsupported.class)
          .hasMessageContaining("mutex 'sole'")
          .hasMessageContaining("Qpid")
          .hasMessageContaining("leave " + setting + "() out, or use RabbitMQ")
          .satisfies(
              refusal ->
                  assertThat(((LockException) refusal).lock()).contains(LockId.mutex("sole")));
    }
    assertThat(consumer.isActive()).isFalse();
    assertThat(locks.leases()).isEmpty();
    assertThat(locks.waiting()).isEmpty();
    fixture.open().mutex("sole").tryAcquire().orElseThrow().close();
    assertThat(fixture.exists(queue + ".hand-over")).isFalse();
    assertIsNoExchange(queue + ".active");
    publish(0, 1);
    assertThat(channel.messageCount(queue)).isEqualTo(1);
  }

  private void assertIsNoExchange(String exchange) throws Exception {
    Connection other = fixture.stranger();
    Channel theirs = other.createChannel();
    assertThatThrownBy(() -> theirs.exchangeDeclarePassive(exchange))
        .isInstanceOf(IOException.class)
        .hasStackTraceContaining("404");
    other.abort();
  }

  /** Whoever could not ask the broker starts, and finds it out as the active one. */
  @ParameterizedTest
  @ValueSource(strings = {"activeQueue", "handOverOnRequest"})
  void whoCouldNotAskTheBrokerSaysWhatItLacksAndDeclaresNothing(String setting) throws Exception {
    AtomicBoolean away = new AtomicBoolean(true);
    ConnectionFactory factory =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(
              ExecutorService executor, List<Address> addresses, String name)
              throws IOException, TimeoutException {
            if (away.get()) {
              throw new IOException("away, for the test");
            }
            return super.newConnection(executor, addresses, name);
          }
        };
    factory.setUri(fixture.broker().uri());
    SoleConsumer consumer =
        kept(
            with(
                setting,
                SoleConsumer.of(fixture.open().mutex("sole"), factory, queue, this::handle)));
    try (LogWatch log = LogWatch.of("io.amqplocks.consumer")) {
      consumer.start();
      away.set(false);
      await()
          .untilAsserted(
              () ->
                  assertThat(log.warnings())
                      .anyMatch(
                          line ->
                              line.contains(queue)
                                  && line.contains("LockException$Unsupported")
                                  && line.contains("or use RabbitMQ")));
    }
    consumer.close();
    assertThat(fixture.exists(queue + ".hand-over")).isFalse();
    assertIsNoExchange(queue + ".active");
  }
}
