package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ConsumerShutdownSignalCallback;
import com.rabbitmq.client.impl.DefaultCredentialsProvider;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LogWatch;
import io.amqplocks.support.Unspeakable;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import io.amqplocks.test.WireTap;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@BrokerTest(everyLine = true)
@Order(1) // of the longest
class SoleConsumerTest {

  private static final Duration LONG = Duration.ofSeconds(60);

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
    channel.queueDeclare(queue, true, false, false, Map.of());
  }

  @AfterEach
  void close() throws Exception {
    consumers.forEach(SoleConsumer::close);
    stranger.close();
  }

  private void publish(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
      channel.basicPublish("", queue, null, body);
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  private static int number(Delivery delivery) {
    return Integer.parseInt(new String(delivery.body(), StandardCharsets.UTF_8));
  }

  private SoleConsumerBuilder on(AmqpLock lock, DeliveryHandler handler) {
    return SoleConsumer.of(lock, fixture.broker().connectionFactory(), queue, handler);
  }

  private SoleConsumer kept(SoleConsumerBuilder settings) {
    SoleConsumer consumer = settings.build();
    consumers.add(consumer);
    return consumer;
  }

  private SoleConsumer started(DeliveryHandler handler) {
    SoleConsumer consumer = kept(on(fixture.open().mutex("sole"), handler));
    consumer.start();
    return consumer;
  }

  private void awaitHandled(int messages) {
    await().untilAsserted(() -> assertThat(handled.size()).isGreaterThanOrEqualTo(messages));
  }

  private static List<Integer> numbers(int to) {
    return IntStream.range(0, to).boxed().toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  void oneConsumesInOrderAndAnotherGoesOnWithoutLossOrDuplicate(String type) throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", type));
    DeliveryHandler first = delivery -> handled.add(number(delivery));
    SoleConsumer one = started(first);
    assertThat(one.awaitActive(LONG)).isTrue();
    AtomicInteger byOther = new AtomicInteger();
    SoleConsumer other =
        started(
            delivery -> {
              handled.add(number(delivery));
              byOther.incrementAndGet();
            });
    // Whoever hands over is back after two seconds, unless somebody waits.
    fixture.awaitConsumers(fixture.names().mutex(LockName.of("sole")), 2);
    publish(0, 200);
    awaitHandled(100);
    assertThat(other.isActive()).isFalse();
    assertThat(byOther).hasValue(0);
    assertThat(one.handOver()).isTrue();
    publish(200, 400);
    awaitHandled(400);
    assertHandledInOrder(400, type.equals("quorum"));
    assertThat(byOther.get()).isPositive();
    other.close();
    assertThat(one.awaitActive(LONG)).isTrue();
    publish(400, 500);
    awaitHandled(500);
    assertHandledInOrder(500, type.equals("quorum"));
    one.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void whoTriesFailsWhileAnotherIsActive() throws Exception {
    SoleConsumer one = kept(on(fixture.open().mutex("sole"), delivery -> {}));
    assertThat(one.tryStart()).isTrue();
    assertThat(one.awaitActive(LONG)).isTrue();
    assertThatThrownBy(one::tryStart).isInstanceOf(IllegalStateException.class);
    SoleConsumer other = kept(on(fixture.open().mutex("sole"), delivery -> handled.add(1)));
    assertThat(other.tryStart()).isFalse();
    assertThat(other.tryStart()).isFalse();
    other.start();
    one.close();
    assertThat(other.awaitActive(LONG)).isTrue();
    publish(0, 1);
    awaitHandled(1);
    assertThatThrownBy(one::tryStart).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aMessageWhoseHandlerFailsComesAgainBeforeThoseBehindIt() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    AtomicInteger counted = new AtomicInteger();
    publish(0, 20);
    SoleConsumer consumer =
        started(
            delivery -> {
              if (number(delivery) == 7 && failures.getAndIncrement() < 2) {
                throw new IOException("for the test");
              }
              handled.add(number(delivery));
              if (number(delivery) == 7) {
                counted.set(delivery.failures());
              }
            });
    awaitHandled(20);
    assertThat(handled).isEqualTo(numbers(20));
    assertThat(failures).hasValue(3);
    assertThat(counted).hasValue(2);
    assertThat(consumer.isActive()).isTrue();
  }

  /** Each once; a quorum queue may give back later what was sent ahead. */
  private void assertHandledInOrder(int messages, boolean orderMayDiffer) {
    if (orderMayDiffer) {
      assertThat(handled).containsExactlyInAnyOrderElementsOf(numbers(messages));
    } else {
      assertThat(handled).isEqualTo(numbers(messages));
    }
  }

  private boolean isBefore4() {
    return fixture.broker().version().toString().startsWith("3.");
  }

  /** A broker of 4.0 or later sets a limit of 20 by itself. */
  private void quorumQueueWithLimit(int limit) throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(
        queue, true, false, false, Map.of("x-queue-type", "quorum", "x-delivery-limit", limit));
  }

  @Tag("trap-8")
  @Test
  void aHandlerThatFailsOftenCostsNoMessageOfAQuorumQueue() throws Exception {
    quorumQueueWithLimit(2);
    AtomicInteger failures = new AtomicInteger();
    publish(0, 20);
    SoleConsumer consumer =
        started(
            delivery -> {
              if (failures.getAndIncrement() < 4) {
                throw new IOException("for the test");
              }
              handled.add(number(delivery));
            });
    awaitHandled(20);
    assertThat(handled).isEqualTo(numbers(20));
    assertThat(consumer.isActive()).isTrue();
  }

  /**
   * If the log failed with it, the connection would be dropped, and that counts for all that was
   * sent ahead.
   */
  @Tag("trap-8")
  @Test
  void aFailureThatCannotBeLoggedCostsNoMessageOfAQuorumQueue() throws Exception {
    quorumQueueWithLimit(2);
    AtomicInteger failures = new AtomicInteger();
    publish(0, 20);
    SoleConsumer consumer =
        started(
            delivery -> {
              if (failures.getAndIncrement() < 4) {
                throw new Unspeakable();
              }
              assertThat(delivery.failures()).isEqualTo(number(delivery) == 0 ? 4 : 0);
              handled.add(number(delivery));
            });
    awaitHandled(20);
    assertThat(handled).isEqualTo(numbers(20));
    assertThat(consumer.isActive()).isTrue();
  }

  /** What was sent ahead to each of them goes back without being counted, on 4.3. */
  @Tag("trap-8")
  @Test
  void manyHandOversCostNoMessageOfAQuorumQueue() throws Exception {
    quorumQueueWithLimit(isBefore4() ? 100 : 1);
    publish(0, 30);
    AtomicReference<CountDownLatch> gate = new AtomicReference<>(new CountDownLatch(1));
    DeliveryHandler slow =
        delivery -> {
          gate.get().await();
          handled.add(number(delivery));
        };
    List<SoleConsumer> both = List.of(started(slow), started(slow));
    for (int i = 0; i < 4; i++) {
      await().until(() -> both.stream().anyMatch(SoleConsumer::isActive));
      SoleConsumer active = both.get(0).isActive() ? both.get(0) : both.get(1);
      // It has been sent what it is sent ahead.
      await().until(() -> channel.messageCount(queue) <= 20);
      assertThat(active.handOver()).isTrue();
      CountDownLatch open = gate.getAndSet(new CountDownLatch(1));
      open.countDown();
    }
    gate.get().countDown();
    gate.set(new CountDownLatch(0));
    awaitHandled(30);
    assertHandledInOrder(30, true);
  }

  @Test
  void aHandlerThatHangsIsNotCalledAgainBesideItself() throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    publish(0, 1);
    SoleConsumer only =
        kept(
            on(
                    fixture.open().mutex("sole"),
                    delivery -> {
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      mayEnd.await();
                      inside.decrementAndGet();
                      handled.add(number(delivery));
                    })
                .grace(Duration.ofMillis(200)));
    only.start();
    await().until(() -> inside.get() == 1);
    assertThat(only.handOver()).isTrue();
    // After its grace, the time to close, and its pause, it would be active again.
    assertThat(only.awaitActive(Duration.ofSeconds(6))).isFalse();
    mayEnd.countDown();
    assertThat(only.awaitActive(LONG)).isTrue();
    awaitHandled(2);
    assertThat(most).hasValue(1);
  }

  /** The election's task, which would wait for the handler, is not begun in such a term. */
  @Test
  void aHandlerThatHangsIsNotCalledAgainThoughAListenerWasSlow() throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger terms = new AtomicInteger();
    AtomicInteger told = new AtomicInteger();
    LeaderListener slow =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            if (terms.incrementAndGet() == 1) {
              await().until(() -> !leadership.isCurrent());
            }
          }
        };
    DeliveryHandler hanging =
        new DeliveryHandler() {
          @Override
          public void handle(Delivery delivery) throws Exception {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            mayEnd.await();
            inside.decrementAndGet();
            handled.add(number(delivery));
          }

          @Override
          public void interrupted(Delivery delivery, Revocation why) {
            told.incrementAndGet();
          }
        };
    publish(0, 1);
    SoleConsumer only =
        kept(
            on(fixture.open().mutex("sole"), hanging).grace(Duration.ofMillis(200)).listener(slow));
    only.start();
    await().until(() -> inside.get() == 1 && terms.get() == 1);
    assertThat(only.handOver()).isTrue();
    await().until(() -> terms.get() > 1);
    await().during(Duration.ofSeconds(2)).until(() -> most.get() == 1);
    assertThat(told).as("of the end of its own term").hasValue(1);
    mayEnd.countDown();
    awaitHandled(2);
    assertThat(handled).containsExactly(0, 0);
    assertThat(most).hasValue(1);
    publish(1, 2);
    awaitHandled(3);
    only.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void aHandlerMayReturnInterrupted() throws Exception {
    SoleConsumer consumer =
        kept(
            on(
                    fixture.open().mutex("sole"),
                    delivery -> {
                      handled.add(number(delivery));
                      Thread.currentThread().interrupt();
                    })
                .prefetch(1));
    publish(0, 3);
    consumer.start();
    awaitHandled(3);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(3));
    assertThat(channel.messageCount(queue)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  void afterALossTheNextOneGoesOnWhileTheOldOneFinishesItsMessage(String type) throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", type));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    List<Integer> old = new CopyOnWriteArrayList<>();
    publish(0, 20);
    SoleConsumer first =
        kept(
            on(
                fixture.open(fixture.seldomVerifying()).mutex("sole"),
                delivery -> {
                  begun.countDown();
                  mayEnd.await();
                  old.add(number(delivery));
                }));
    first.start();
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    fixture.delete(fixture.names().mutex(LockName.of("sole")));
    await().atMost(Fixture.AT_ONCE).until(() -> !first.isActive());
    SoleConsumer next = started(delivery -> handled.add(number(delivery)));
    assertThat(next.awaitActive(LONG)).isTrue();
    // Before 4.0 what was sent ahead comes back when the old handler has ended.
    awaitHandled(isBefore4() ? 10 : 19);
    assertThat(old).isEmpty();
    mayEnd.countDown();
    await().until(() -> old.equals(List.of(0)));
    awaitHandled(19);
    assertThat(handled)
        .containsExactlyInAnyOrderElementsOf(numbers(20).subList(1, 20))
        .doesNotHaveDuplicates();
    next.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void aRejectedMessageIsGone() throws Exception {
    publish(0, 3);
    SoleConsumer consumer =
        started(
            delivery -> {
              handled.add(number(delivery));
              if (number(delivery) == 1) {
                delivery.reject();
              }
            });
    awaitHandled(3);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(3));
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void whatWasSentAheadGoesBackAndWhatIsInHandIsFinished() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicReference<Revocation> told = new AtomicReference<>();
    publish(0, 5);
    DeliveryHandler slow =
        new DeliveryHandler() {
          @Override
          public void handle(Delivery delivery) throws Exception {
            assertThat(delivery.isActive()).isTrue();
            begun.countDown();
            mayEnd.await();
            assertThat(delivery.isActive()).isFalse();
            handled.add(number(delivery));
          }

          @Override
          public void interrupted(Delivery delivery, Revocation why) {
            told.set(why);
          }
        };
    SoleConsumer consumer = started(slow);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer next = started(delivery -> handled.add(number(delivery)));
    Thread closer = new Thread(consumer::close);
    closer.start();
    await().until(() -> told.get() != null);
    assertThat(told.get().cause()).isEqualTo(Revocation.Cause.CLOSED);
    assertThat(consumer.isActive()).isFalse();
    assertThat(next.awaitActive(Duration.ofSeconds(1))).isFalse();
    mayEnd.countDown();
    awaitHandled(5);
    assertThat(handled).isEqualTo(numbers(5));
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
  }

  @Test
  void whoDoesNotFinishInTimeLosesItsMessageToTheNext() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    publish(0, 2);
    SoleConsumer slow =
        kept(
            on(
                    fixture.open().mutex("sole"),
                    delivery -> {
                      begun.countDown();
                      mayEnd.await();
                    })
                .grace(Duration.ofMillis(300)));
    slow.start();
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer next = started(delivery -> handled.add(number(delivery)));
    slow.close();
    assertThat(next.awaitActive(LONG)).isTrue();
    awaitHandled(2);
    assertThat(handled).isEqualTo(numbers(2));
    mayEnd.countDown();
  }

  @Test
  void aLossIsToldToTheHandlerWhichMayFinishAndNothingElseIsBegun() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicReference<Revocation> told = new AtomicReference<>();
    publish(0, 5);
    DeliveryHandler slow =
        new DeliveryHandler() {
          @Override
          public void handle(Delivery delivery) throws Exception {
            if (begun.getCount() > 0) {
              begun.countDown();
              mayEnd.await();
            }
            handled.add(number(delivery));
          }

          @Override
          public void interrupted(Delivery delivery, Revocation why) {
            assertThat(delivery.isActive()).isFalse();
            told.set(why);
          }
        };
    AmqpLock lock = fixture.open(fixture.seldomVerifying()).mutex("sole");
    SoleConsumer consumer = kept(on(lock, slow));
    consumer.start();
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    fixture.delete(fixture.names().mutex(LockName.of("sole")));
    await().atMost(Fixture.AT_ONCE).until(() -> !consumer.isActive() && told.get() != null);
    assertThat(told.get().cause()).isEqualTo(Revocation.Cause.LOST);
    assertThat(handled).isEmpty();
    mayEnd.countDown();
    awaitHandled(5);
    assertThat(handled).isEqualTo(numbers(5));
  }

  @Test
  void othersCannotConsumeMeanwhile() throws Exception {
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    Channel other = stranger.createChannel();
    assertThatThrownBy(() -> other.basicConsume(queue, true, (tag, message) -> {}, tag -> {}))
        .hasRootCauseMessage(
            "channel error; protocol method: #method<channel.close>(reply-code=403, reply-text=ACCESS_REFUSED - queue '"
                + queue
                + "' in vhost '/' in exclusive use, class-id=60, method-id=20)");
    assertThat(consumer.isActive()).isTrue();
  }

  @Test
  void aQueueThatIsMissingIsWaitedFor() throws Exception {
    channel.queueDelete(queue);
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    assertThat(consumer.awaitActive(LONG)).isTrue();
    await().during(Duration.ofMillis(300)).until(handled::isEmpty);
    channel.queueDeclare(queue, true, false, false, Map.of());
    publish(0, 1);
    awaitHandled(1);
    // None is left of the attempts.
    await().until(() -> connections() == 1);
    channel.queueDelete(queue);
    channel.queueDeclare(queue, true, false, false, Map.of());
    publish(1, 2);
    awaitHandled(2);
    assertThat(handled).isEqualTo(numbers(2));
  }

  /** The broker tells of a deletion only clients that say they understand it. */
  @Test
  void aQueueThatWasDeletedIsConsumedAgainWhateverClientPropertiesTheApplicationHas()
      throws Exception {
    ConnectionFactory users = fixture.broker().connectionFactory();
    users.setClientProperties(Map.of("product", "shop"));
    SoleConsumer consumer =
        kept(
            SoleConsumer.of(
                fixture.open().mutex("sole"),
                users,
                queue,
                delivery -> handled.add(number(delivery))));
    consumer.start();
    publish(0, 1);
    awaitHandled(1);
    channel.queueDelete(queue);
    channel.queueDeclare(queue, true, false, false, Map.of());
    publish(1, 2);
    awaitHandled(2);
    assertThat(handled).containsExactly(0, 1);
  }

  /** As when a quorum queue's member on the consumer's node is far behind the others. */
  @Test
  void aConsumerThatIsSentNothingBeginsAnew() throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    Leadership term = consumer.election().leadership().orElseThrow();
    assertThat(fixture.broker().faults().suspendConsumers(queue, LONG)).isEqualTo(1);
    // Ten are sent to the channel that is suspended.
    publish(1, 21);
    awaitHandled(11);
    assertThat(consumer.election().leadership()).as("the same term").contains(term);
  }

  /** Somebody else is the single active consumer of a quorum queue, which refuses nobody. */
  @Test
  void oneThatIsSentNothingAgainAndAgainHandsOver() throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(
        queue,
        true,
        false,
        false,
        Map.of("x-queue-type", "quorum", "x-single-active-consumer", true));
    channel.basicQos(1);
    channel.basicConsume(queue, false, "stranger", (tag, message) -> {}, tag -> {});
    SoleConsumer one = started(delivery -> handled.add(number(delivery)));
    assertThat(one.awaitActive(LONG)).isTrue();
    SoleConsumer other = started(delivery -> handled.add(number(delivery)));
    // An empty queue is no reason.
    await().during(Duration.ofSeconds(12)).atMost(LONG).until(() -> !other.isActive());
    publish(0, 3);
    assertThat(other.awaitActive(LONG)).isTrue();
    channel.basicCancel("stranger");
    await().atMost(LONG).untilAsserted(() -> assertThat(handled).contains(1, 2));
  }

  @Test
  void oneThatCannotBeginForLongHandsOver() throws Exception {
    ConnectionFactory wrong = fixture.broker().connectionFactory();
    wrong.setPassword("wrong");
    SoleConsumerBuilder settings =
        SoleConsumer.of(
            fixture.open().mutex("sole"), wrong, queue, delivery -> handled.add(number(delivery)));
    settings.longestInVainNanos = Duration.ofSeconds(3).toNanos();
    SoleConsumer one = kept(settings);
    one.start();
    assertThat(one.awaitActive(LONG)).isTrue();
    SoleConsumer other = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    assertThat(other.isActive()).isTrue();
  }

  /** The connection breaks while the handler works, for longer than all may be in vain. */
  @Test
  void aLongHandlerIsNoTimeInVain() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch broken = new CountDownLatch(1);
    SoleConsumerBuilder settings =
        on(
            fixture.open().mutex("sole"),
            delivery -> {
              begun.countDown();
              assertThat(broken.await(60, TimeUnit.SECONDS)).isTrue();
              handled.add(number(delivery));
            });
    settings.longestInVainNanos = Duration.ofSeconds(2).toNanos();
    SoleConsumer consumer = kept(settings);
    consumer.start();
    publish(0, 1);
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    Leadership term = consumer.election().leadership().orElseThrow();
    fixture.broker().faults().closeConnections("amqp-locks consumer of " + queue, "a test");
    await().during(Duration.ofSeconds(3)).until(() -> handled.isEmpty());
    broken.countDown();
    publish(1, 2);
    await().atMost(LONG).untilAsserted(() -> assertThat(handled).contains(1));
    assertThat(consumer.election().leadership()).as("the same term").contains(term);
  }

  /** Its channel closes before it can acknowledge, as by the broker's consumer timeout. */
  @Test
  void oneThatCanAcknowledgeNothingHandsOver() throws Exception {
    AtomicReference<Connection> last = new AtomicReference<>();
    ConnectionFactory factory =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            last.set(super.newConnection(name));
            return last.get();
          }
        };
    factory.setUri(fixture.broker().uri());
    SoleConsumerBuilder settings =
        SoleConsumer.of(
            fixture.open().mutex("sole"), factory, queue, delivery -> last.get().abort());
    settings.longestInVainNanos = Duration.ofSeconds(2).toNanos();
    SoleConsumer one = kept(settings);
    one.start();
    assertThat(one.awaitActive(LONG)).isTrue();
    SoleConsumer other = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    assertThat(other.awaitActive(LONG)).isTrue();
    awaitHandled(1);
  }

  /** The consumer that takes over asks by any of the nodes, too. */
  @Test
  void itGoesOnByAnotherNode() throws Exception {
    try (TcpProxy one = TcpProxy.to(fixture.broker());
        TcpProxy two = TcpProxy.to(fixture.broker())) {
      List<Address> nodes =
          List.of(new Address(one.host(), one.port()), new Address(two.host(), two.port()));
      SoleConsumer consumer =
          kept(
              through(one, each -> handled.add(number(each))).addresses(nodes).handOverOnRequest());
      two.refuse(true);
      consumer.start();
      publish(0, 1);
      awaitHandled(1);
      // That of its messages and that of requests; the one that asked what the broker has goes.
      await().until(() -> one.connections() == 2);
      two.refuse(false);
      one.refuse(true);
      one.cut();
      publish(1, 2);
      await().until(() -> handled.contains(1));
      assertThat(one.connections()).isZero();
      SoleConsumer next = kept(through(one, each -> handled.add(number(each))).addresses(nodes));
      assertThat(next.takeOver(LONG)).isTrue();
      next.close();
      consumer.close();
    }
  }

  @Test
  void itGoesOnAfterItsConnectionWasCut() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      SoleConsumer consumer = kept(through(proxy, delivery -> handled.add(number(delivery))));
      consumer.start();
      publish(0, 100);
      awaitHandled(100);
      proxy.cut();
      publish(100, 200);
      await().until(() -> handled.contains(199));
      assertThat(handled).containsAll(numbers(200));
      assertThat(consumer.isActive()).isTrue();
      consumer.close();
    }
  }

  /** Those that it would give the client. */
  @Test
  void itGoesOnAfterACutThoughTheApplicationsThreadsAreBusy() throws Exception {
    ExecutorService threads = Executors.newSingleThreadExecutor();
    CountDownLatch over = new CountDownLatch(1);
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory = factoryThrough(proxy);
      factory.setSharedExecutor(threads);
      SoleConsumer consumer =
          kept(
              SoleConsumer.of(
                  fixture.open().mutex("sole"),
                  factory,
                  queue,
                  delivery -> handled.add(number(delivery))));
      consumer.start();
      publish(0, 1);
      awaitHandled(1);
      Future<Boolean> unused = threads.submit(() -> over.await(5, TimeUnit.MINUTES));
      proxy.cut();
      publish(1, 2);
      await().until(() -> handled.contains(1));
      consumer.close();
    } finally {
      over.countDown();
      threads.shutdown();
    }
  }

  @Test
  void itNoticesItselfThatItsChannelIsClosed() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory =
          new ConnectionFactory() {
            @Override
            public Connection newConnection(String name) throws IOException, TimeoutException {
              return untold(Connection.class, super.newConnection(name));
            }
          };
      factory.setUri(fixture.broker().uri());
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      SoleConsumer consumer =
          kept(
              SoleConsumer.of(
                  fixture.open().mutex("sole"),
                  factory,
                  queue,
                  delivery -> handled.add(number(delivery))));
      consumer.start();
      publish(0, 1);
      awaitHandled(1);
      proxy.cut();
      publish(1, 2);
      await().until(() -> handled.contains(1));
      assertThat(consumer.isActive()).isTrue();
      consumer.close();
    }
  }

  /** A connection or a channel whose consumers are not told that it is closed. */
  private static <T> T untold(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, called, arguments) -> {
              if (called.getName().equals("basicConsume")) {
                ConsumerShutdownSignalCallback nothing = (tag, signal) -> {};
                arguments[arguments.length - 1] = nothing;
              }
              try {
                Object result = called.invoke(real, arguments);
                return result instanceof Optional<?> channel
                    ? channel.map(each -> untold(Channel.class, (Channel) each))
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            }));
  }

  /** As a queue that lost its leader when it was asked: it may answer half a minute later. */
  @Test
  void aQueueThatDoesNotAnswerIsAskedAgainByANewConnection() throws Exception {
    AtomicInteger muted = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    WireTap mute =
        (connection, direction, bytes) -> {
          if (direction == Direction.CLIENT_TO_BROKER && hasConsume(bytes)) {
            muted.compareAndSet(0, connection);
          } else if (direction == Direction.BROKER_TO_CLIENT && connection == muted.get()) {
            await().until(() -> over.getCount() == 0);
          }
        };
    try (TcpProxy proxy = TcpProxy.to(fixture.broker(), mute);
        LogWatch logs = LogWatch.of("io.amqplocks.consumer")) {
      SoleConsumer consumer = kept(through(proxy, each -> handled.add(number(each))));
      publish(0, 1);
      long start = System.nanoTime();
      consumer.start();
      awaitHandled(1);
      // By the timeouts of a call and of the close it would be 20 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(14));
      assertThat(muted.get()).isPositive();
      // Sooner than the timeout of a call, of which it would say another thing.
      assertThat(logs.warnings())
          .anyMatch(each -> each.contains(queue) && each.contains("did not answer in time"));
      consumer.close();
    } finally {
      over.countDown();
    }
  }

  /**
   * The third time a single answer is late, and not all together. When one was in time, it begins
   * anew.
   */
  @Test
  void aBrokerThatDoesNotAnswerHasLongerEachTime() throws Exception {
    Set<Integer> unanswered = Set.of(1, 2, 3, 4, 6);
    List<Long> consumes = new CopyOnWriteArrayList<>();
    Set<Integer> muted = ConcurrentHashMap.newKeySet();
    CountDownLatch over = new CountDownLatch(1);
    long started;
    long cut;
    WireTap mute =
        (connection, direction, bytes) -> {
          if (direction == Direction.CLIENT_TO_BROKER && hasConsume(bytes)) {
            consumes.add(System.nanoTime());
            if (unanswered.contains(consumes.size())) {
              muted.add(connection);
            }
          } else if (direction == Direction.BROKER_TO_CLIENT && muted.contains(connection)) {
            await().atMost(LONG.multipliedBy(2)).until(() -> over.getCount() == 0);
          }
        };
    try (TcpProxy proxy = TcpProxy.to(fixture.broker(), mute)) {
      SoleConsumer consumer = kept(through(proxy, each -> handled.add(number(each))));
      started = System.nanoTime();
      consumer.start();
      publish(0, 1);
      await().atMost(LONG).until(() -> handled.contains(0));
      cut = System.nanoTime();
      proxy.cut();
      publish(1, 2);
      await().atMost(LONG).until(() -> handled.contains(1));
      consumer.close();
    } finally {
      over.countDown();
    }
    assertThat(consumes).hasSize(7);
    // Since the start, for a wait seems shorter if a pause delays the time noted before it.
    long start = started;
    assertThat(consumes.subList(1, 5).stream().map(each -> seconds(each - start)))
        .satisfiesExactly(
            second -> assertThat(second).isGreaterThan(2.9),
            third -> assertThat(third).isGreaterThan(3 + 5.9),
            fourth -> assertThat(fourth).isGreaterThan(3 + 6 + 9.9),
            fifth -> assertThat(fifth).isGreaterThan(3 + 6 + 10 + 9.9));
    assertThat(seconds(consumes.get(6) - cut)).isGreaterThan(2.9);
    assertThat(seconds(consumes.get(6) - consumes.get(5)))
        .as("the answered one begins anew")
        .isLessThan(9.9);
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }

  /**
   * As a queue whose leader has to be found anew. The connection is dropped after 5 s where no
   * message is in hand.
   */
  @Test
  void aMessageInHandIsAcknowledgedHoweverLongTheBrokerDoesNotAnswer() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    SoleConsumer consumer =
        started(
            each -> {
              begun.countDown();
              mayEnd.await();
              handled.add(number(each));
            });
    publish(0, 1);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer next = started(each -> handled.add(number(each)));
    try {
      fixture.broker().faults().suspendQueue(queue);
      assertThat(consumer.handOver()).isTrue();
      await()
          .pollInterval(Duration.ofMillis(100))
          .during(Duration.ofSeconds(7))
          .atMost(Duration.ofSeconds(20))
          .until(() -> connections() == 1);
    } finally {
      fixture.broker().faults().resumeQueue(queue);
      mayEnd.countDown();
    }
    assertThat(next.awaitActive(LONG)).isTrue();
    publish(1, 2);
    awaitHandled(2);
    assertThat(handled).containsExactly(0, 1);
  }

  /** The handler hangs, and the queue does not answer: the grace period is the bound. */
  @Test
  void aQueueThatDoesNotAnswerGetsNoMoreThanTheGracePeriod() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    SoleConsumer consumer =
        kept(
            on(
                    fixture.open().mutex("sole"),
                    each -> {
                      begun.countDown();
                      mayEnd.await();
                    })
                .grace(Duration.ofSeconds(1)));
    consumer.start();
    publish(0, 1);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    try {
      fixture.broker().faults().suspendQueue(queue);
      assertThat(consumer.handOver()).isTrue();
      // The call timeout would take 10 seconds.
      await().atMost(Duration.ofSeconds(9)).until(() -> connections() == 0);
    } finally {
      fixture.broker().faults().resumeQueue(queue);
      mayEnd.countDown();
    }
  }

  /** The lock would be released that much later. */
  @Test
  void aListenerThatClosesDoesNotWaitForTheConnection() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    CountDownLatch returned = new CountDownLatch(1);
    WireTap tap =
        (connection, direction, bytes) -> {
          if (direction == Direction.CLIENT_TO_BROKER && hasConnectionClose(bytes)) {
            closing.countDown();
            await().until(() -> over.getCount() == 0);
          }
        };
    try (TcpProxy proxy = TcpProxy.to(fixture.broker(), tap)) {
      AtomicReference<SoleConsumer> closed = new AtomicReference<>();
      LeaderListener closes =
          new LeaderListener() {
            @Override
            public void revoked(Leadership leadership, Revocation why) {
              closed.get().close();
              returned.countDown();
            }
          };
      SoleConsumer consumer =
          kept(through(proxy, each -> handled.add(number(each))).listener(closes));
      closed.set(consumer);
      consumer.start();
      publish(0, 1);
      awaitHandled(1);
      assertThat(consumer.handOver()).isTrue();
      assertThat(closing.await(30, TimeUnit.SECONDS)).isTrue();
      // The broker has ten seconds to say that it has seen the end.
      assertThat(returned.await(8, TimeUnit.SECONDS)).isTrue();
    } finally {
      over.countDown();
    }
  }

  /** A method frame of channel 0: connection.close. */
  private static boolean hasConnectionClose(byte[] bytes) {
    return bytes.length > 11
        && ByteBuffer.wrap(bytes).get(0) == 1
        && ByteBuffer.wrap(bytes).getShort(1) == 0
        && ByteBuffer.wrap(bytes).getInt(7) == (10 << 16 | 50);
  }

  /** A node without a majority does not answer for half a minute; others may consume meanwhile. */
  @Test
  void whoStopsDoesNotWaitLongForABrokerThatDoesNotAnswer() throws Exception {
    AtomicBoolean mute = new AtomicBoolean();
    CountDownLatch over = new CountDownLatch(1);
    WireTap tap =
        (connection, direction, bytes) -> {
          if (direction == Direction.BROKER_TO_CLIENT && mute.get()) {
            await().until(() -> over.getCount() == 0);
          }
        };
    try (TcpProxy proxy = TcpProxy.to(fixture.broker(), tap);
        LogWatch logs = LogWatch.of("io.amqplocks.consumer")) {
      SoleConsumer consumer = kept(through(proxy, each -> handled.add(number(each))));
      publish(0, 1);
      consumer.start();
      awaitHandled(1);
      SoleConsumer next = started(each -> handled.add(number(each)));
      mute.set(true);
      long start = System.nanoTime();
      assertThat(consumer.handOver()).isTrue();
      publish(1, 2);
      awaitHandled(2);
      // By the timeouts of a call and of the close it would be 20 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(14));
      assertThat(next.isActive()).isTrue();
      assertThat(logs.warnings())
          .anyMatch(each -> each.contains(queue) && each.contains("did not answer in time"))
          .noneMatch(each -> each.contains(queue) && each.contains("has not finished"));
      consumer.close();
    } finally {
      over.countDown();
    }
  }

  /** While its worker waits for the broker, somebody else may have become the active one. */
  @Test
  void whoStopsWhileItConnectsConsumesNothing() throws Exception {
    CountDownLatch connecting = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    AtomicBoolean consumed = new AtomicBoolean();
    WireTap tap =
        (connection, direction, bytes) -> {
          if (direction == Direction.BROKER_TO_CLIENT) {
            connecting.countDown();
            await().until(() -> over.getCount() == 0);
          } else if (hasConsume(bytes)) {
            consumed.set(true);
          }
        };
    try (TcpProxy proxy = TcpProxy.to(fixture.broker(), tap)) {
      SoleConsumer consumer = kept(through(proxy, each -> handled.add(number(each))));
      consumer.start();
      assertThat(connecting.await(30, TimeUnit.SECONDS)).isTrue();
      SoleConsumer next = started(each -> handled.add(number(each)));
      assertThat(consumer.handOver()).isTrue();
      assertThat(next.awaitActive(LONG)).isTrue();
      over.countDown();
      await().until(() -> proxy.connections() == 0);
      assertThat(consumed).isFalse();
    } finally {
      over.countDown();
    }
  }

  /** Longer than the broker has for its answers. */
  @Test
  void aHandlerHasTheWholeGracePeriod() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    SoleConsumer consumer =
        started(
            each -> {
              begun.countDown();
              TimeUnit.SECONDS.sleep(7);
              handled.add(number(each));
            });
    publish(0, 1);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer next = started(each -> handled.add(number(each)));
    assertThat(consumer.handOver()).isTrue();
    assertThat(next.awaitActive(LONG)).isTrue();
    assertThat(handled).containsExactly(0);
    assertThat(channel.messageCount(queue)).isZero();
    publish(1, 2);
    awaitHandled(2);
    assertThat(handled).containsExactly(0, 1);
  }

  /** One whose messages come through that proxy, and whose lock does not. */
  private SoleConsumerBuilder through(TcpProxy proxy, DeliveryHandler handler) {
    return SoleConsumer.of(fixture.open().mutex("sole"), factoryThrough(proxy), queue, handler);
  }

  private ConnectionFactory factoryThrough(TcpProxy proxy) {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }

  /** By its class and its method, 60 and 20. */
  private static boolean hasConsume(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1).contains("\u0000<\u0000\u0014");
  }

  @Test
  void aFailureOfTheApplicationsSettingsIsTriedAgain() throws Exception {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    String password = factory.getPassword();
    AtomicInteger calls = new AtomicInteger();
    factory.setCredentialsProvider(
        new DefaultCredentialsProvider(factory.getUsername(), password) {
          @Override
          public String getPassword() {
            switch (calls.incrementAndGet()) {
              case 1 -> throw new IllegalStateException("for the test");
              case 2 -> throw new NoClassDefFoundError("for the test");
              case 3 -> throw new Unspeakable();
              default -> {
                return password;
              }
            }
          }
        });
    publish(0, 1);
    SoleConsumer consumer =
        kept(
            SoleConsumer.of(
                fixture.open().mutex("sole"),
                factory,
                queue,
                delivery -> handled.add(number(delivery))));
    consumer.start();
    awaitHandled(1);
    assertThat(calls).hasValueGreaterThanOrEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerThatHangsOrFailsWhenItIsToldDelaysNothing(boolean hangs) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    publish(0, 2);
    DeliveryHandler wrong =
        new DeliveryHandler() {
          @Override
          public void handle(Delivery delivery) throws Exception {
            begun.countDown();
            mayEnd.await();
          }

          @Override
          public void interrupted(Delivery delivery, Revocation why) {
            if (!hangs) {
              throw new AssertionError("for the test");
            }
            try {
              mayEnd.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        };
    SoleConsumer first =
        kept(on(fixture.open().mutex("sole"), wrong).grace(Duration.ofMillis(500)));
    first.start();
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    long before = System.nanoTime();
    first.close();
    // The grace period, which both share, and two seconds; the handler hangs until the end.
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(15));
    SoleConsumer next = started(delivery -> handled.add(number(delivery)));
    awaitHandled(2);
    assertThat(handled).isEqualTo(numbers(2));
    assertThat(next.isActive()).isTrue();
    mayEnd.countDown();
  }

  /** As after the broker's consumer timeout: the channel is gone when the handler returns. */
  @Test
  void anAcknowledgementThatCannotBeSentIsAWarning() throws Exception {
    CountDownLatch cut = new CountDownLatch(1);
    try (TcpProxy proxy = TcpProxy.to(fixture.broker());
        LogWatch logs = LogWatch.of("io.amqplocks.consumer")) {
      SoleConsumer consumer =
          kept(
              through(
                  proxy,
                  delivery -> {
                    handled.add(number(delivery));
                    if (handled.size() == 1) {
                      cut.await();
                    }
                  }));
      publish(0, 1);
      consumer.start();
      awaitHandled(1);
      proxy.cut();
      await().until(() -> proxy.connections() == 0);
      cut.countDown();
      awaitHandled(2);
      assertThat(handled).containsExactly(0, 0);
      await()
          .untilAsserted(() -> assertThat(logs.warnings()).anyMatch(each -> each.contains(queue)));
      consumer.close();
    }
  }

  private long connections() {
    return fixture.broker().faults().connections().stream()
        .filter(name -> name.endsWith("consumer of " + queue))
        .count();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoStandsByHasAConnectionOnlyIfItIsToHaveOne(boolean connected) throws Exception {
    SoleConsumer active = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    SoleConsumerBuilder settings =
        on(fixture.open().mutex("sole"), delivery -> handled.add(number(delivery)));
    SoleConsumer other = kept(connected ? settings.standByConnected() : settings);
    other.start();
    await().during(Duration.ofMillis(500)).until(() -> connections() == (connected ? 2 : 1));
    active.close();
    publish(1, 2);
    awaitHandled(2);
    await().untilAsserted(() -> assertThat(connections()).isEqualTo(1));
    assertThat(other.isActive()).isTrue();
    other.close();
    await().until(() -> connections() == 0);
  }

  /** Counts the connections that were ever opened: one that is soon opened again may be missed. */
  private TcpProxy counting(AtomicInteger opened) {
    return TcpProxy.to(
        fixture.broker(),
        (connection, direction, bytes) -> opened.accumulateAndGet(connection, Math::max));
  }

  @Test
  void aConnectionThatWasCutWhileItStoodByIsOpenedAgain() throws Exception {
    SoleConsumer active = started(delivery -> handled.add(number(delivery)));
    assertThat(active.awaitActive(LONG)).isTrue();
    AtomicInteger opened = new AtomicInteger();
    try (TcpProxy proxy = counting(opened)) {
      SoleConsumer other =
          kept(through(proxy, delivery -> handled.add(number(delivery))).standByConnected());
      other.start();
      await().until(() -> opened.get() == 1);
      // It waits for the lock too.
      fixture.awaitConsumers(fixture.names().mutex(LockName.of("sole")), 2);
      proxy.cut();
      await().until(() -> proxy.connections() == 0 || opened.get() > 1);
      assertThat(active.handOver()).isTrue();
      publish(0, 1);
      awaitHandled(1);
      assertThat(other.isActive()).isTrue();
      await().until(() -> opened.get() > 1 && proxy.connections() == 1);
      other.close();
    }
  }

  /** At its start, and when it is lost while nothing else happens. */
  @Test
  void aConnectionAheadThatCannotBeOpenedOrBreaksIsTriedAgain() throws Exception {
    SoleConsumer active = started(delivery -> handled.add(number(delivery)));
    assertThat(active.awaitActive(LONG)).isTrue();
    AtomicInteger opened = new AtomicInteger();
    try (TcpProxy proxy = counting(opened)) {
      proxy.refuse(true);
      SoleConsumer other =
          kept(through(proxy, delivery -> handled.add(number(delivery))).standByConnected());
      other.start();
      proxy.refuse(false);
      await().until(() -> opened.get() == 1);
      proxy.cut();
      await().until(() -> opened.get() > 1 && proxy.connections() == 1);
      assertThat(other.isActive()).isFalse();
      other.close();
      // Not opened again after that.
      await().during(Duration.ofMillis(1_500)).until(() -> proxy.connections() == 0);
    }
  }

  /** It became active before its connection ahead was there, and needs no second one. */
  @Test
  void aConnectionAheadThatComesTooLateIsClosed() throws Exception {
    SoleConsumer active = started(delivery -> handled.add(number(delivery)));
    assertThat(active.awaitActive(LONG)).isTrue();
    CountDownLatch opening = new CountDownLatch(1);
    CountDownLatch mayOpen = new CountDownLatch(1);
    CountDownLatch opened = new CountDownLatch(1);
    ConnectionFactory slow =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            boolean ahead = Thread.currentThread().getName().contains("standing by");
            if (ahead) {
              opening.countDown();
              awaitUninterruptibly(mayOpen);
            }
            Connection connection = super.newConnection(name);
            if (ahead) {
              opened.countDown();
            }
            return connection;
          }
        };
    slow.setUri(fixture.broker().uri());
    SoleConsumer other =
        kept(
            SoleConsumer.of(
                    fixture.open().mutex("sole"),
                    slow,
                    queue,
                    delivery -> handled.add(number(delivery)))
                .standByConnected());
    other.start();
    assertThat(opening.await(30, TimeUnit.SECONDS)).isTrue();
    active.close();
    publish(0, 1);
    awaitHandled(1);
    assertThat(other.isActive()).isTrue();
    mayOpen.countDown();
    assertThat(opened.await(30, TimeUnit.SECONDS)).isTrue();
    await().during(Duration.ofMillis(500)).until(() -> connections() == 1);
    publish(1, 2);
    awaitHandled(2);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IOException("the test does not go on");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void aHandlerMayCloseItsConsumer() throws Exception {
    AtomicReference<SoleConsumer> self = new AtomicReference<>();
    AmqpLocks locks = fixture.open();
    publish(0, 2);
    self.set(
        kept(
            on(
                locks.mutex("sole"),
                delivery -> {
                  handled.add(number(delivery));
                  self.get().close();
                })));
    self.get().start();
    awaitHandled(1);
    await().until(() -> locks.leases().isEmpty() && !self.get().isActive());
    assertThat(handled).containsExactly(0);
    // A queue may answer before it has seen what it was given back.
    await().untilAsserted(() -> assertThat(channel.messageCount(queue)).isEqualTo(1));
  }

  @Test
  void wrongSettingsAreRefused() {
    AmqpLocks locks = fixture.open();
    assertThatThrownBy(() -> kept(on(locks.tokenSemaphore("s"), delivery -> {})))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'s'");
    SoleConsumerBuilder settings = on(locks.mutex("sole"), delivery -> {});
    for (int wrong : new int[] {0, 65_536}) {
      assertThatThrownBy(() -> settings.prefetch(wrong))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining(queue);
    }
    for (Duration wrong : List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> settings.grace(wrong))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining(queue);
    }
    assertThatThrownBy(
            () ->
                SoleConsumer.of(
                    locks.mutex("sole"), fixture.broker().connectionFactory(), "", delivery -> {}))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'sole'");
  }

  /** The protocol has one byte for its length. */
  @Test
  void aNameThatNoQueueCanHaveIsRefused() {
    AmqpLock lock = fixture.open().mutex("sole");
    ConnectionFactory factory = fixture.broker().connectionFactory();
    String longest = "ü".repeat(127) + "u";
    assertThat(SoleConsumer.of(lock, factory, longest, delivery -> {})).isNotNull();
    assertThatThrownBy(() -> SoleConsumer.of(lock, factory, longest + "u", delivery -> {}))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'sole'")
        .hasMessageContaining("'" + longest + "u'")
        .hasMessageContaining("256");
  }

  @SuppressWarnings("NullAway") // What it refuses may come from code that does not check nulls.
  @Test
  void nullIsRefusedByItsName() {
    AmqpLock lock = fixture.open().mutex("sole");
    ConnectionFactory factory = fixture.broker().connectionFactory();
    DeliveryHandler handler = delivery -> {};
    SoleConsumerBuilder settings = on(lock, handler);
    assertNullRefused("lock", () -> SoleConsumer.of(null, factory, queue, handler));
    assertNullRefused("factory", () -> SoleConsumer.of(lock, null, queue, handler));
    assertNullRefused("queue", () -> SoleConsumer.of(lock, factory, null, handler));
    assertNullRefused("handler", () -> SoleConsumer.of(lock, factory, queue, null));
    assertNullRefused("listener", () -> settings.listener(null));
    assertNullRefused("ingressExchange", () -> settings.activeQueue(null, "#"));
    assertNullRefused("routingKey", () -> settings.activeQueue("ingress", null));
  }

  private static void assertNullRefused(String name, ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(name);
  }

  @SuppressWarnings("NullAway") // As above.
  @Test
  void aTakeOverWithoutATimeStartsNothing() {
    SoleConsumer consumer = kept(on(fixture.open().mutex("sole"), delivery -> {}));
    assertThatThrownBy(() -> consumer.takeOver(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("time");
    // It would be refused after a start.
    assertThat(consumer.tryStart()).isTrue();
  }
}
