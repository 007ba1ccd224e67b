package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A sole consumer whose lock is in doubt, while its messages go on coming. The link of its lock is
 * silent, and the connection by which it consumes is not.
 */
@BrokerTest(everyLine = true)
class SoleConsumerDoubtTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration HEARTBEAT = Duration.ofSeconds(2);

  /** How much longer it is watched: if it did not stop, it would begin 50 messages. */
  private static final Duration WATCHED = Duration.ofSeconds(1);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch enough = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final CountDownLatch never = new CountDownLatch(1);
  private final List<Begun> begun = new CopyOnWriteArrayList<>();
  private final List<Integer> handled = new CopyOnWriteArrayList<>();
  private final List<Cause> revoked = new CopyOnWriteArrayList<>();
  private final List<SoleConsumer> consumers = new ArrayList<>();
  private String queue = "";
  private Connection stranger;
  private Channel channel;
  private TcpProxy proxy;
  private AmqpLocks locks;

  /**
   * What the handler saw when it began.
   *
   * @param active what its delivery said
   * @param held what the locks said, which do not know of elections
   */
  private record Begun(boolean active, boolean held) {

    boolean isInDoubt() {
      return !active || !held;
    }
  }

  @BeforeEach
  void open() throws Exception {
    queue = fixture.prefix() + "orders";
    stranger = fixture.stranger();
    channel = stranger.createChannel();
    channel.queueDeclare(queue, true, false, false, Map.of());
    proxy = TcpProxy.to(fixture.broker());
    ConnectionFactory silent = fixture.broker().connectionFactory();
    silent.setHost(proxy.host());
    silent.setPort(proxy.port());
    locks = fixture.open(fixture.builder(silent).heartbeat(HEARTBEAT).callTimeout(HEARTBEAT));
  }

  @AfterEach
  void close() throws Exception {
    enough.countDown();
    mayEnd.countDown();
    // Whoever waits for an answer learns that none will come.
    proxy.heal();
    proxy.reset();
    consumers.forEach(SoleConsumer::close);
    proxy.close();
    threads.shutdownNow();
    stranger.close();
  }

  private SoleConsumer consumer(AmqpLocks by, DeliveryHandler handler) {
    SoleConsumer consumer =
        SoleConsumer.of(by.mutex("sole"), fixture.broker().connectionFactory(), queue, handler)
            .listener(
                new LeaderListener() {
                  @Override
                  public void revoked(Leadership leadership, Revocation revocation) {
                    revoked.add(revocation.cause());
                  }
                })
            // The broker frees the lock long before that.
            .grace(LONG)
            .build();
    consumers.add(consumer);
    return consumer;
  }

  private static int number(Delivery delivery) {
    return Integer.parseInt(new String(delivery.body(), StandardCharsets.UTF_8));
  }

  private static List<Integer> numbers(int to) {
    return IntStream.range(0, to).boxed().toList();
  }

  private void publish(Channel by, int number) throws Exception {
    by.basicPublish("", queue, null, Integer.toString(number).getBytes(StandardCharsets.UTF_8));
  }

  /** Publishes twice as many as are handled, until there are enough. Returns how many. */
  private int publishAllTheTime() throws Exception {
    Channel publishing = stranger.createChannel();
    publishing.confirmSelect();
    int published = 0;
    do {
      publish(publishing, published);
      published++;
    } while (!enough.await(10, TimeUnit.MILLISECONDS));
    publishing.waitForConfirmsOrDie(30_000);
    return published;
  }

  private boolean isHeld() {
    return locks.leases().stream().anyMatch(lease -> lease.state() == LeaseState.HELD);
  }

  /** Takes 20 ms for each message. */
  private void handleSlowly(Delivery delivery) throws Exception {
    begun.add(new Begun(delivery.isActive(), isHeld()));
    boolean unused = never.await(20, TimeUnit.MILLISECONDS);
    handled.add(number(delivery));
  }

  @Test
  void inDoubtItBeginsNoMessageAndTheNextOneHandlesTheRest() throws Exception {
    SoleConsumer first = consumer(locks, this::handleSlowly);
    first.start();
    assertThat(first.awaitActive(LONG)).isTrue();
    Future<Integer> publishing = threads.submit(this::publishAllTheTime);
    await().until(() -> handled.size() >= 10);
    proxy.blackHole(Direction.BOTH);
    await().pollInterval(Duration.ofMillis(1)).until(() -> !first.isActive());
    int before = begun.size();
    await().until(() -> !revoked.isEmpty() && !isHeld());
    await().during(WATCHED).until(() -> !first.isActive());
    // The last one may have been asked for just before the doubt, and begun just after it.
    assertThat(begun.size()).isLessThanOrEqualTo(before + 1);
    assertThat(begun.stream().filter(Begun::isInDoubt).count())
        .as("messages begun in doubt")
        .isLessThanOrEqualTo(revoked.size());
    assertThat(revoked).allMatch(SoleConsumerDoubtTest::isDoubtOrLoss);
    enough.countDown();
    int published = publishing.get(60, TimeUnit.SECONDS);
    int rest = published - handled.size();
    assertThat(rest).isPositive();
    await().untilAsserted(() -> assertThat(channel.messageCount(queue)).isEqualTo(rest));
    SoleConsumer next = consumer(fixture.open(), delivery -> handled.add(number(delivery)));
    next.start();
    await().atMost(LONG).until(() -> handled.size() >= published);
    assertThat(begun.size()).isLessThanOrEqualTo(before + 1);
    assertThat(handled).containsExactlyInAnyOrderElementsOf(numbers(published));
    next.close();
    assertThat(channel.messageCount(queue)).isZero();
  }

  private static boolean isDoubtOrLoss(Cause cause) {
    return cause == Cause.UNCERTAIN || cause == Cause.LOST;
  }

  @Test
  void inDoubtTheHandlerIsToldAndMayFinishWhileTheNextOneHandlesTheRest() throws Exception {
    AtomicReference<Revocation> told = new AtomicReference<>();
    AtomicReference<Delivery> of = new AtomicReference<>();
    DeliveryHandler slow =
        new DeliveryHandler() {
          @Override
          public void handle(Delivery delivery) throws Exception {
            begun.add(new Begun(delivery.isActive(), isHeld()));
            mayEnd.await();
            handled.add(number(delivery));
          }

          @Override
          public void interrupted(Delivery delivery, Revocation why) {
            of.set(delivery);
            told.set(why);
          }
        };
    SoleConsumer first = consumer(locks, slow);
    publish(channel, 0);
    first.start();
    await().atMost(LONG).until(() -> begun.size() == 1);
    SoleConsumer next = consumer(fixture.open(), delivery -> handled.add(number(delivery)));
    next.start();
    for (int i = 1; i < 20; i++) {
      publish(channel, i);
    }
    proxy.blackHole(Direction.BOTH);
    await().until(() -> told.get() != null);
    assertThat(told.get().cause()).matches(SoleConsumerDoubtTest::isDoubtOrLoss);
    assertThat(number(of.get())).isZero();
    assertThat(of.get().isActive()).isFalse();
    assertThat(next.awaitActive(LONG)).isTrue();
    await().until(() -> handled.contains(19));
    assertThat(handled).doesNotContain(0);
    mayEnd.countDown();
    await().until(() -> handled.size() >= 20);
    assertThat(handled).containsExactlyInAnyOrderElementsOf(numbers(20));
    assertThat(begun).hasSize(1);
    // It was acknowledged: nothing comes again when all of them have gone.
    consumers.forEach(SoleConsumer::close);
    assertThat(channel.messageCount(queue)).isZero();
  }
}
