package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One of two processes dies while the consumption of a queue is handed over: at its first step
 * after the newcomer has begun to take over, at its second, and so on, until all was over before it
 * died. It takes a step when it sends something to the broker, or begins to handle a message. To
 * the broker it dies as a killed process does: all of its connections are closed at once, and it
 * never comes back.
 */
@BrokerTest(everyLine = true)
@Order(1) // of the longest
class DeathAtAnyPointTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  /** As many points are tried at the same time. */
  private static final int AT_ONCE = 6;

  /** Far more steps than either process takes. */
  private static final int MOST = 600;

  @RegisterExtension private final Fixture fixture = new Fixture();

  enum Dying {
    NEWCOMER,
    ACTIVE
  }

  /** The way to the broker of a process that dies at its n-th step. */
  private static final class Mortal implements AutoCloseable {
    private final AtomicInteger steps = new AtomicInteger(Integer.MAX_VALUE);
    private final TcpProxy proxy;
    private volatile boolean dead;

    Mortal(Fixture fixture) {
      proxy =
          TcpProxy.to(
              fixture.broker(),
              (connection, direction, bytes) -> {
                if (direction == Direction.CLIENT_TO_BROKER) {
                  step();
                }
              });
    }

    ConnectionFactory factory(Fixture fixture) {
      ConnectionFactory factory = fixture.broker().connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      return factory;
    }

    void dieBefore(int step) {
      steps.set(step);
    }

    /** It is about to send something, or has a message in hand. */
    void step() {
      if (steps.getAndDecrement() == 0) {
        die();
      }
    }

    void die() {
      // The connections close one after the other. What it no longer counts as handled must not be
      // acknowledged by one that is still open.
      proxy.blackHole(Direction.CLIENT_TO_BROKER);
      dead = true;
      proxy.refuse(true);
      proxy.cut();
    }

    @Override
    public void close() {
      proxy.close();
    }
  }

  @ParameterizedTest
  @EnumSource(Dying.class)
  void theOtherOneIsActiveSoonAndNothingIsLost(Dying dying) throws Exception {
    ExecutorService rounds = Executors.newFixedThreadPool(AT_ONCE);
    int points = 0;
    try {
      for (boolean over = false; !over; points += AT_ONCE) {
        assertThat(points).as("points at which it died").isLessThan(MOST);
        List<CompletableFuture<Boolean>> died = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
          int step = points + i;
          died.add(CompletableFuture.supplyAsync(() -> round(dying, step), rounds));
        }
        over = true;
        for (CompletableFuture<Boolean> each : died) {
          over &= !each.get(5, TimeUnit.MINUTES);
        }
      }
    } finally {
      rounds.shutdownNow();
    }
    assertThat(points).as("points at which it died").isGreaterThan(3 * AT_ONCE);
  }

  /** Whether it died before all was over. */
  private boolean round(Dying dying, int step) {
    try {
      return dieBefore(dying, step);
    } catch (Exception | AssertionError e) {
      throw new AssertionError("%s, at step %d: %s".formatted(dying, step, e), e);
    }
  }

  private boolean dieBefore(Dying dying, int step) throws Exception {
    String name = "sole-" + dying + "-" + step;
    String queue = fixture.prefix() + name;
    Set<String> handled = ConcurrentHashMap.newKeySet();
    try (Connection stranger = fixture.stranger();
        Mortal mortal = new Mortal(fixture);
        AmqpLocks mortals = fixture.builder(mortal.factory(fixture)).build();
        AmqpLocks others = fixture.builder().build()) {
      Channel channel = stranger.createChannel();
      channel.confirmSelect();
      channel.queueDeclare(queue, true, false, false, Map.of());
      SoleConsumerBuilder dead =
          SoleConsumer.of(
              mortals.mutex(name),
              mortal.factory(fixture),
              queue,
              delivery -> {
                mortal.step();
                // What a dead process handles does not count.
                if (!mortal.dead) {
                  handled.add(new String(delivery.body(), StandardCharsets.UTF_8));
                }
              });
      SoleConsumerBuilder alive =
          SoleConsumer.of(
              others.mutex(name),
              fixture.broker().connectionFactory(),
              queue,
              delivery -> handled.add(new String(delivery.body(), StandardCharsets.UTF_8)));
      boolean newcomerDies = dying == Dying.NEWCOMER;
      try (SoleConsumer active = (newcomerDies ? alive : dead).handOverOnRequest().build();
          SoleConsumer newcomer = (newcomerDies ? dead : alive).build()) {
        active.start();
        assertThat(active.awaitActive(LONG)).isTrue();
        mortal.dieBefore(step);
        publish(channel, queue, 0, 10);
        CompletableFuture<Boolean> taken = takingOver(newcomer);
        publish(channel, queue, 10, 20);
        await("dead, or all over")
            .until(() -> mortal.dead || (taken.isDone() && handled.size() == 20));
        boolean died = mortal.dead;
        mortal.die();
        publish(channel, queue, 20, 30);
        SoleConsumer staying = newcomerDies ? active : newcomer;
        await("the other one is active").until(staying::isActive);
        List<String> all = IntStream.range(0, 30).mapToObj(Integer::toString).toList();
        await().untilAsserted(() -> assertThat(handled).containsExactlyInAnyOrderElementsOf(all));
        assertThat(newcomerDies || taken.get(60, TimeUnit.SECONDS)).isTrue();
        await("the dead one is not active")
            .until(() -> !(newcomerDies ? newcomer : active).isActive());
        return died;
      }
    }
  }

  private static void publish(Channel channel, String queue, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
      channel.basicPublish("", queue, null, body);
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  private static CompletableFuture<Boolean> takingOver(SoleConsumer consumer) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return consumer.takeOver(LONG);
          } catch (InterruptedException | LockException e) {
            return false;
          }
        },
        work -> new Thread(work).start());
  }
}
