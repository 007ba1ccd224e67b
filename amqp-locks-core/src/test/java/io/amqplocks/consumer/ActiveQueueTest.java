package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Leadership;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sole consumers of a tracking queue and of a queue that is there while one is active. */
@BrokerTest(everyLine = true)
class ActiveQueueTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<LeaderElection> elections = new ArrayList<>();
  private final List<SoleConsumer> consumers = new ArrayList<>();
  private final List<Integer> handled = new CopyOnWriteArrayList<>();
  private String queue = "";
  private String ingress = "";
  private Connection stranger;
  private Channel channel;

  @BeforeEach
  void declare() throws Exception {
    queue = fixture.prefix() + "orders";
    ingress = fixture.prefix() + "ingress";
    stranger = fixture.stranger();
    channel = stranger.createChannel();
    channel.confirmSelect();
    channel.exchangeDeclare(ingress, "topic", true);
    declareQueue("classic");
  }

  private void declareQueue(String type) throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(
        queue,
        true,
        false,
        false,
        Map.of(
            "x-queue-type",
            type,
            "x-dead-letter-exchange",
            "",
            "x-dead-letter-routing-key",
            dead()));
    channel.queueDeclare(dead(), true, false, false, Map.of());
    channel.queueBind(queue, ingress, "orders.#");
  }

  private String dead() {
    return queue + "-dead";
  }

  @AfterEach
  void close() throws Exception {
    consumers.forEach(SoleConsumer::close);
    elections.forEach(LeaderElection::close);
    channel.exchangeDelete(ingress);
    stranger.close();
  }

  /**
   * Until the broker confirms all. It refuses a message if the queue of the active one has just
   * ended, though the tracking queue has it.
   */
  private void publish(int from, int to) throws Exception {
    do {
      for (int i = from; i < to; i++) {
        publish(ingress, "orders.eu", i, Integer.toString(i));
      }
    } while (!channel.waitForConfirms(30_000));
  }

  private void publish(String exchange, String key, int number, @Nullable String id)
      throws Exception {
    byte[] body = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    channel.basicPublish(
        exchange, key, new BasicProperties.Builder().messageId(id).deliveryMode(2).build(), body);
  }

  private static int number(Delivery delivery) {
    return Integer.parseInt(new String(delivery.body(), StandardCharsets.UTF_8));
  }

  private SoleConsumerBuilder on(DeliveryHandler handler) {
    return on(fixture.broker().connectionFactory(), handler);
  }

  private SoleConsumerBuilder on(ConnectionFactory factory, DeliveryHandler handler) {
    return SoleConsumer.of(fixture.open().mutex("sole"), factory, queue, handler)
        .activeQueue(ingress, "orders.#");
  }

  private SoleConsumer started(DeliveryHandler handler) {
    return started(on(handler));
  }

  private SoleConsumer started(SoleConsumerBuilder settings) {
    SoleConsumer consumer = settings.build();
    consumers.add(consumer);
    consumer.start();
    return consumer;
  }

  private void awaitHandled(int messages) {
    await().untilAsserted(() -> assertThat(handled.size()).isGreaterThanOrEqualTo(messages));
  }

  private static List<Integer> numbers(int to) {
    return IntStream.range(0, to).boxed().toList();
  }

  private boolean thereIsAnActiveOne() {
    return !queuesOfActiveOnes().isEmpty();
  }

  private void awaitNoActiveOne() {
    await().until(() -> !thereIsAnActiveOne());
  }

  private List<String> queuesOfActiveOnes() {
    return fixture.broker().faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(queue + ".active."))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  void eachIsHandledOnceInOrderWhoeverIsActive(String type) throws Exception {
    declareQueue(type);
    publish(0, 50);
    SoleConsumer one = started(delivery -> handled.add(number(delivery)));
    publish(50, 200);
    awaitHandled(200);
    assertThat(handled).isEqualTo(numbers(200));
    await().until(this::thereIsAnActiveOne);
    SoleConsumer other = started(delivery -> handled.add(number(delivery)));
    assertThat(queuesOfActiveOnes()).hasSize(1);
    assertThat(one.handOver()).isTrue();
    publish(200, 400);
    awaitHandled(400);
    if (type.equals("quorum")) {
      // It may give back later what was sent ahead, as to every sole consumer.
      assertThat(handled).containsExactlyInAnyOrderElementsOf(numbers(400));
    } else {
      assertThat(handled).isEqualTo(numbers(400));
    }
    other.close();
    one.close();
    assertThat(channel.messageCount(queue)).isZero();
    awaitNoActiveOne();
    // The queue goes on tracking while nobody is active.
    publish(400, 410);
    assertThat(channel.messageCount(queue)).isEqualTo(10);
  }

  /** Only there it is at all: the tracking queue does not have it. */
  @Test
  void aMessageIsHandledThatCameThroughTheActiveQueue() throws Exception {
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    publish("", queuesOfActiveOnes().get(0), 1, "1");
    awaitHandled(2);
    assertThat(handled).isEqualTo(numbers(2));
    // Its copy never comes, and is not waited for without end.
    consumer.close();
    awaitNoActiveOne();
  }

  /** For instance because the first publisher saw no confirmation. */
  @Test
  void aMessageThatIsPublishedTwiceIsHandledOnce() throws Exception {
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    publish(0, 20);
    publish(0, 20);
    publish(20, 21);
    awaitHandled(21);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(21));
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void aMessageWithoutAnIdIsHandledOnce() throws Exception {
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    for (int i = 0; i < 20; i++) {
      publish(ingress, "orders.eu", i, null);
    }
    awaitHandled(20);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(20));
    assertThat(channel.messageCount(queue)).isZero();
  }

  @Test
  void aRejectedMessageIsDeadLetteredOnce() throws Exception {
    SoleConsumer consumer =
        started(
            delivery -> {
              handled.add(number(delivery));
              if (number(delivery) % 10 == 0) {
                delivery.reject();
              }
            });
    publish(0, 30);
    awaitHandled(30);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(30));
    await().untilAsserted(() -> assertThat(channel.messageCount(dead())).isEqualTo(3));
    assertThat(channel.messageCount(queue)).isZero();
  }

  /** As by a delay queue: dead-lettering keeps the message's id. */
  @Test
  void aRejectedMessageThatComesBackIsHandledAgain() throws Exception {
    SoleConsumer consumer =
        started(
            delivery -> {
              handled.add(number(delivery));
              if (handled.size() == 1) {
                delivery.reject();
              }
            });
    publish(0, 1);
    awaitHandled(1);
    GetResponse dead = await().until(() -> channel.basicGet(dead(), true), Objects::nonNull);
    channel.basicPublish(ingress, "orders.eu", dead.getProps(), dead.getBody());
    awaitHandled(2);
    consumer.close();
    assertThat(handled).containsExactly(0, 0);
    assertThat(channel.messageCount(dead())).isZero();
  }

  /** The message in hand comes again, because the broker does not know that it was handled. */
  @Test
  void afterItsConnectionWasCutAConsumerHandlesNothingTwice() throws Exception {
    AtomicReference<CountDownLatch> gate = new AtomicReference<>(new CountDownLatch(0));
    Semaphore begun = new Semaphore(0);
    AtomicInteger again = new AtomicInteger();
    SoleConsumer consumer =
        started(
            delivery -> {
              begun.release();
              gate.get().await();
              handled.add(number(delivery));
              if (delivery.envelope().isRedeliver()) {
                again.incrementAndGet();
              }
            });
    publish(0, 1);
    awaitHandled(1);
    for (int i = 1; i <= 3; i++) {
      CountDownLatch closed = new CountDownLatch(1);
      gate.set(closed);
      begun.drainPermits();
      int first = i * 50;
      publish(first, first + 50);
      assertThat(begun.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      fixture.broker().faults().closeConnections("amqp-locks consumer of " + queue, "cut");
      // The broker has all back before the handler ends.
      await().until(() -> channel.messageCount(queue) >= 50);
      closed.countDown();
      awaitHandled(1 + i * 50);
    }
    consumer.close();
    assertThat(handled).hasSize(151).doesNotHaveDuplicates();
    assertThat(again.get()).as("of those behind it").isPositive();
    assertThat(channel.messageCount(queue)).isZero();
  }

  /** It went back to the queue, and a handler may have given up when it heard of that. */
  @Test
  void whatWentBackAfterTheGracePeriodIsHandledAgain() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    SoleConsumer only =
        on(delivery -> {
              begun.countDown();
              mayEnd.await();
              handled.add(number(delivery));
            })
            .grace(Duration.ofMillis(200))
            .build();
    consumers.add(only);
    only.start();
    publish(0, 1);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(only.handOver()).isTrue();
    await().until(() -> channel.messageCount(queue) == 1);
    mayEnd.countDown();
    awaitHandled(2);
    assertThat(handled).containsExactly(0, 0);
    only.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  /**
   * The worker and the thread that stops it tell the broker at the same time. A call that has
   * waited for its turn until the channel was closed is never answered.
   */
  @Test
  void whoClosesItLetsWhoEndsItFinish() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker());
        Connection connection = through(proxy).newConnection()) {
      Leadership term = term();
      for (int i = 0; i < 10; i++) {
        Subscription subscription = subscription(connection.createChannel(), term);
        proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(100));
        CompletableFuture<Void> closes = CompletableFuture.runAsync(() -> close(subscription));
        // Between its first request and the answer.
        CompletableFuture<Void> ends = CompletableFuture.runAsync(subscription::end, soon());
        ends.get(30, TimeUnit.SECONDS);
        closes.get(30, TimeUnit.SECONDS);
        proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ZERO);
      }
    }
  }

  /** Or what was sent ahead would go back with the channel, which a quorum queue counts. */
  @Test
  void theChannelIsClosedWhenTheBrokerSendsNoMore() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker());
        Connection connection = through(proxy).newConnection()) {
      Subscription subscription = subscription(connection.createChannel(), term());
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(200));
      // Before it begins, or a pause in between would be missing.
      long start = System.nanoTime();
      CompletableFuture<Void> ends = CompletableFuture.runAsync(subscription::end);
      CompletableFuture.runAsync(() -> close(subscription), soon()).get(30, TimeUnit.SECONDS);
      // An unbind and two cancels, before the close.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(790));
      ends.get(30, TimeUnit.SECONDS);
    }
  }

  /** The broker may have requeued it when the handler ends, and the client not know that yet. */
  @Test
  void whatIsInHandWhenItIsDroppedIsNotHandled() throws Exception {
    HandledIds handledIds = new HandledIds();
    Leadership term = term();
    Channel first = stranger.createChannel();
    Subscription dropped = Subscription.begin(first, on(delivery -> {}), term, handledIds);
    publish(0, 1);
    Delivery delivery = await().until(() -> dropped.next(100), Objects::nonNull);
    dropped.drop();
    dropped.settle(delivery);
    first.abort();
    Subscription next =
        Subscription.begin(stranger.createChannel(), on(each -> {}), term, handledIds);
    Delivery again = await().until(() -> next.next(100), Objects::nonNull);
    assertThat(number(again)).isZero();
    next.settle(again);
    next.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  /**
   * What the broker deletes of the last one, it may delete while the next one begins. With an
   * auto-delete exchange, nobody could begin any more after some of these rounds on 4.3.
   */
  @Tag("trap-25")
  @Test
  void howeverManyDieOthersCanBegin() throws Exception {
    Leadership term = term();
    ConnectionFactory factory = fixture.broker().connectionFactory();
    Connection dying = factory.newConnection();
    assertThat(subscription(dying.createChannel(), term).isOpen()).isTrue();
    for (int i = 0; i < 400; i++) {
      Connection last = dying;
      Connection next = factory.newConnection();
      Channel open = next.createChannel();
      CompletableFuture<Void> dies = CompletableFuture.runAsync(last::abort);
      // The broker takes up to a millisecond or so to notice, and every moment of that counts.
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(i * 7_919 % 1_000));
      dying = beginsAfter(dies, next, open, term);
      dies.get(30, TimeUnit.SECONDS);
    }
    dying.abort();
    assertOthersCanBegin();
  }

  private void assertOthersCanBegin() throws Exception {
    elections.forEach(LeaderElection::close);
    // It asks all exchanges whether they are concerned.
    fixture.broker().faults().setPolicy(queue, "^" + queue + "$", "queues", "{\"max-length\":99}");
    fixture.broker().faults().clearPolicy(queue);
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    publish(0, 1);
    awaitHandled(1);
    consumer.close();
  }

  /** Its calls may still be under way at the broker when the next one begins. */
  @Tag("trap-25")
  @Test
  void howeverManyDieWhileTheyBeginOthersCan() throws Exception {
    Leadership term = term();
    ConnectionFactory factory = fixture.broker().connectionFactory();
    for (int i = 0; i < 150; i++) {
      Connection dying = factory.newConnection();
      Connection next = factory.newConnection();
      Channel theirs = dying.createChannel();
      Channel open = next.createChannel();
      CompletableFuture<Void> begins = CompletableFuture.runAsync(() -> beginning(theirs, term));
      // Every moment of the few milliseconds that a beginning takes counts.
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(i * 7_919 % 4_000));
      CompletableFuture<Void> dies = CompletableFuture.runAsync(dying::abort);
      Connection begun = beginsAfter(dies, next, open, term);
      begins.get(30, TimeUnit.SECONDS);
      begun.abort();
    }
    assertOthersCanBegin();
  }

  /** A sole consumer tries again if it is refused, as while the last one still consumes. */
  private Connection beginsAfter(
      CompletableFuture<Void> dies, Connection next, Channel open, Leadership term)
      throws Exception {
    try {
      assertThat(subscription(open, term).isOpen()).isTrue();
      return next;
    } catch (IOException refused) {
      next.abort();
      dies.get(30, TimeUnit.SECONDS);
      return await().ignoreExceptions().until(() -> begun(term), Objects::nonNull);
    }
  }

  private Connection begun(Leadership term) throws Exception {
    Connection connection = fixture.broker().connectionFactory().newConnection();
    try {
      assertThat(subscription(connection.createChannel(), term).isOpen()).isTrue();
      return connection;
    } catch (IOException e) {
      connection.abort();
      throw e;
    }
  }

  /** Whether it succeeds or not, as its connection may end. */
  private void beginning(Channel on, Leadership term) {
    try {
      Subscription unused = subscription(on, term);
    } catch (Exception e) {
      assertThat(e).isInstanceOfAny(IOException.class, ShutdownSignalException.class);
    }
  }

  /** With no other rights than those that SOLE-CONSUMER names. They cover no exchange of ours. */
  @Test
  void itNeedsTheRightsThatThePageNames() throws Exception {
    String user = fixture.prefix() + "user";
    String own = Pattern.quote(queue + ".active.") + ".*";
    String tracking = Pattern.quote(queue);
    fixture
        .broker()
        .faults()
        .addUser(
            user,
            "secret",
            "^" + own + "$",
            "^(" + own + "|" + tracking + ")$",
            "^(" + own + "|" + tracking + "|" + Pattern.quote(ingress) + ")$");
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setUsername(user);
    factory.setPassword("secret");
    SoleConsumer consumer = started(on(factory, delivery -> handled.add(number(delivery))));
    publish(0, 10);
    awaitHandled(10);
    consumer.close();
    assertThat(handled).isEqualTo(numbers(10));
    assertThat(channel.messageCount(queue)).isZero();
    fixture.broker().faults().deleteUser(user);
  }

  private ConnectionFactory through(TcpProxy proxy) {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    // Longer than the test waits, so that it sees a call that is never answered.
    factory.setChannelRpcTimeout(120_000);
    return factory;
  }

  private Leadership term() throws InterruptedException {
    LeaderElection election = LeaderElection.on(fixture.open().mutex("sole")).build();
    elections.add(election);
    election.start();
    return election.awaitLeadership(Duration.ofSeconds(30)).orElseThrow();
  }

  private Subscription subscription(Channel open, Leadership term) throws Exception {
    return Subscription.begin(open, on(delivery -> {}), term, new HandledIds());
  }

  private static Executor soon() {
    return CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS);
  }

  private static void close(Subscription subscription) {
    assertThatCode(subscription::close).doesNotThrowAnyException();
  }

  /** The message in hand is finished; those behind it go to the next one, and none twice. */
  @Test
  void whatWasSentAheadGoesBackAndWhatIsInHandIsFinished() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    SoleConsumer slow =
        started(
            delivery -> {
              begun.countDown();
              mayEnd.await();
              handled.add(number(delivery));
            });
    assertThat(slow.awaitActive(LONG)).isTrue();
    await().until(this::thereIsAnActiveOne);
    publish(0, 30);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer next = started(delivery -> handled.add(number(delivery)));
    Thread closer = new Thread(slow::close);
    closer.start();
    await().until(() -> !slow.isActive());
    assertThat(next.awaitActive(Duration.ofSeconds(1))).isFalse();
    mayEnd.countDown();
    awaitHandled(30);
    assertThat(handled).isEqualTo(numbers(30));
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    next.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  /** Counts its connections, also those of its copies. */
  private static final class Counting extends ConnectionFactory {
    private final AtomicInteger opened = new AtomicInteger();

    @Override
    public Connection newConnection(String name) throws IOException, TimeoutException {
      opened.incrementAndGet();
      return super.newConnection(name);
    }
  }

  /** Each attempt would count as a failed delivery, and the queue's limit is one. */
  @Test
  @Tag("trap-8")
  void withoutTheRightToTheExclusiveQueueNoMessageIsTaken() throws Exception {
    channel.queueDelete(queue);
    channel.queueDeclare(
        queue,
        true,
        false,
        false,
        Map.of(
            "x-queue-type",
            "quorum",
            "x-delivery-limit",
            1,
            "x-dead-letter-exchange",
            "",
            "x-dead-letter-routing-key",
            dead()));
    channel.queueBind(queue, ingress, "orders.#");
    publish(0, 5);
    String user = fixture.prefix() + "user";
    fixture.broker().faults().addUser(user, "secret", ".*", ".*", "^(?!.*\\.active\\.).*$");
    Counting factory = new Counting();
    factory.setHost(fixture.broker().host());
    factory.setPort(fixture.broker().port());
    factory.setUsername(user);
    factory.setPassword("secret");
    SoleConsumer consumer = started(on(factory, delivery -> handled.add(number(delivery))));
    await().until(() -> factory.opened.get() > 4);
    consumer.close();
    assertThat(handled).isEmpty();
    await().untilAsserted(() -> assertThat(channel.messageCount(queue)).isEqualTo(5));
    assertThat(channel.messageCount(dead())).isZero();
    fixture.broker().faults().deleteUser(user);
  }

  @Test
  void withoutAnIngressExchangeItGoesOnTrying() throws Exception {
    channel.exchangeDelete(ingress);
    SoleConsumer consumer = started(delivery -> handled.add(number(delivery)));
    assertThat(consumer.awaitActive(LONG)).isTrue();
    channel.exchangeDeclare(ingress, "topic", true);
    // It binds its queue to the exchange by itself.
    await().atMost(LONG).until(this::thereIsAnActiveOne);
    publish(0, 3);
    awaitHandled(3);
    assertThat(handled).isEqualTo(numbers(3));
  }

  @Test
  void namesThatCannotBeUsedAreRefused() {
    SoleConsumerBuilder settings = on(delivery -> {});
    assertThatThrownBy(() -> settings.activeQueue("", "#"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'" + queue + "'")
        .hasMessageContaining("ingress exchange");
    SoleConsumerBuilder longest =
        SoleConsumer.of(
            fixture.open().mutex("sole"),
            fixture.broker().connectionFactory(),
            "q".repeat(212),
            delivery -> {});
    assertThatThrownBy(() -> longest.activeQueue("in", "#"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("too long");
  }
}
