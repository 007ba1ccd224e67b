package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fencing tokens that come with the messages of a sole consumer. */
@BrokerTest(everyLine = true)
class SoleConsumerTokenTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<SoleConsumer> consumers = new ArrayList<>();
  private final List<Long> tokens = new CopyOnWriteArrayList<>();
  private String queue = "";
  private Connection stranger;
  private Channel channel;

  @BeforeEach
  void open() throws Exception {
    queue = fixture.prefix() + "orders";
    stranger = fixture.stranger();
    channel = stranger.createChannel();
    channel.queueDeclare(queue, true, false, false, Map.of());
  }

  @AfterEach
  void close() throws Exception {
    consumers.forEach(SoleConsumer::close);
    stranger.close();
  }

  private AmqpLock lock(String kind) {
    // A doubt would be a takeover of its own.
    var locks = fixture.open(fixture.seldomVerifying());
    return kind.equals("fenced") ? locks.fencedMutex("sole") : locks.mutex("sole").fenced();
  }

  private SoleConsumer started(AmqpLock lock) {
    SoleConsumer consumer =
        SoleConsumer.of(
                lock,
                fixture.broker().connectionFactory(),
                queue,
                delivery ->
                    tokens.add(
                        delivery.fencingToken().map(FencingToken::number).orElse(Long.MIN_VALUE)))
            .build();
    consumers.add(consumer);
    consumer.start();
    return consumer;
  }

  /** Returns the token with which that many messages more were handled, all with the same one. */
  private long tokenOf(SoleConsumer active, int messages) throws Exception {
    int before = tokens.size();
    assertThat(active.awaitActive(LONG)).isTrue();
    for (int i = 0; i < messages; i++) {
      channel.basicPublish("", queue, null, new byte[0]);
    }
    await().until(() -> tokens.size() == before + messages);
    List<Long> seen = tokens.subList(before, before + messages);
    assertThat(seen).containsOnly(seen.get(0));
    return seen.get(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mutex", "fenced"})
  void theTokenOfTheMessagesRisesWithEachTakeover(String kind) throws Exception {
    SoleConsumer one = started(lock(kind));
    long first = tokenOf(one, 5);
    assertThat(first).isPositive();
    SoleConsumer other = started(lock(kind));
    // More than once if the other one does not wait yet, and this one becomes active again.
    await()
        .atMost(LONG)
        .until(
            () -> {
              boolean unused = one.handOver();
              return other.awaitActive(Duration.ofSeconds(1));
            });
    long second = tokenOf(other, 5);
    assertThat(second).isGreaterThan(first);
    other.close();
    long third = tokenOf(one, 5);
    assertThat(third).isGreaterThan(second);
  }
}
