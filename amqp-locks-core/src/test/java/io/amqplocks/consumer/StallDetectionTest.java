package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a connection says on which nobody answers. */
class StallDetectionTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final AtomicInteger stalls = new AtomicInteger();
  private final AtomicInteger asked = new AtomicInteger();
  private final CompletableFuture<Command> answer = new CompletableFuture<>();

  private final SoleConsumerBuilder settings =
      new SoleConsumerBuilder(
          stub(AmqpLock.class, LockId.mutex("m")), new ConnectionFactory(), "orders", each -> {});

  private static <T> T stub(Class<T> type, Object result) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> result));
  }

  private static long seconds(int count) {
    return Duration.ofSeconds(count).toNanos();
  }

  private StallDetection stall() {
    Channel channel =
        (Channel)
            Proxy.newProxyInstance(
                Channel.class.getClassLoader(),
                new Class<?>[] {Channel.class},
                (proxy, method, arguments) -> {
                  asked.incrementAndGet();
                  return answer;
                });
    return new StallDetection(settings, stub(Connection.class, Optional.of(channel)), stalls);
  }

  @Test
  void aQueueThatDoesNotAnswerHasStalled() {
    settings.longestUnansweredNanos = Duration.ofMillis(200).toNanos();
    StallDetection stall = stall();
    await().atMost(LONG).until(stall::isStalled);
    assertThat(asked).hasValue(1);
    assertThat(stalls).hasValue(1);
  }

  /** Messages that come are an answer of another kind. */
  @Test
  void aQueueThatSendsHasNotStalledThoughItDoesNotAnswer() {
    settings.longestUnansweredNanos = Duration.ofSeconds(15).toNanos();
    StallDetection stall = stall();
    await().atMost(LONG).until(() -> !stall.isStalled() && asked.get() == 1);
    long askedAt = System.nanoTime();
    await().atMost(LONG).until(() -> System.nanoTime() - askedAt > seconds(10));
    stall.received();
    // It is asked that long ago, and sent a message since.
    await().atMost(LONG).until(() -> System.nanoTime() - askedAt > seconds(16));
    assertThat(stall.isStalled()).isFalse();
    assertThat(stalls).hasValue(0);
    await().atMost(LONG).until(stall::isStalled);
  }
}
