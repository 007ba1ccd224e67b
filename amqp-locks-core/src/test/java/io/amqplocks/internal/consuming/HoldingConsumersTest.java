package io.amqplocks.internal.consuming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@BrokerTest(everyLine = true)
class HoldingConsumersTest {

  private static final int CHANNELS = 16;

  private final ExecutorService background = Executors.newSingleThreadExecutor();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private Connection connection;
  private HoldingConsumers consumers;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    ConnectionFactory factory = broker.connectionFactory();
    factory.setRequestedChannelMax(CHANNELS);
    connection = factory.newConnection("consumers");
    RpcChannelPool holder = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    consumers =
        new HoldingConsumers(
            holder, new ConsumerChannelPool(connection, holder, background), Map.of());
  }

  @AfterEach
  void close() throws Exception {
    connection.abort(1000);
    background.shutdownNow();
  }

  private static Call call() {
    return Call.on(LockId.writeLock("m"), Duration.ofSeconds(5), Ticker.SYSTEM);
  }

  private String declare(String name) throws Exception {
    String queue = fixture.prefix() + name;
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().asyncCompletableRpc(QueueArguments.slot(queue)).get();
    }
    return queue;
  }

  private Optional<HoldingConsumer> take(String queue) {
    HoldingConsumer consumer = consumers.prepare(call(), queue);
    return consumers.consume(call(), consumer, Access.EXCLUSIVE) == Answer.OK
        ? Optional.of(consumer)
        : Optional.empty();
  }

  /** Many leases may be of one queue, as read locks are, and each is verified again and again. */
  @Test
  void aQueueThatHangsCostsOneChannelHoweverOftenItIsCounted() throws Exception {
    String well = declare("well");
    String hung = fixture.prefix() + "hung";
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().queueDeclare(hung, false, false, false, Map.of());
    }
    broker.faults().suspendQueue(hung);
    try {
      for (int i = 0; i < 2 * CHANNELS; i++) {
        Call brief = Call.on(LockId.readLock("m"), Duration.ofMillis(20), Ticker.SYSTEM);
        assertThatThrownBy(() -> consumers.count(brief, hung))
            .isInstanceOf(LockException.Unanswered.class);
      }
      assertThat(consumers.count(call(), well)).hasValue(0);
    } finally {
      broker.faults().resumeQueue(hung);
    }
    await().untilAsserted(() -> assertThat(consumers.count(call(), hung)).hasValue(0));
    fixture.delete(hung);
  }

  /** At once, and not only when somebody next asks. */
  @Test
  void aChannelThatTheBrokerClosesTakesItsConsumerAlongAndNoOther() throws Exception {
    String a = declare("a");
    String b = declare("b");
    HoldingConsumer first = take(a).orElseThrow();
    HoldingConsumer second = take(b).orElseThrow();
    first.channel().getChannel().basicAck(4711, false);
    await().until(first::isGone);
    assertThat(first.fate()).contains(a).contains("PRECONDITION_FAILED");
    await().until(() -> consumers.count(call(), a).getAsInt() == 0);
    consumers.release(call(), first);
    assertThat(second.isGone()).isFalse();
    assertThat(consumers.count(call(), b)).hasValue(1);
    assertThat(take(a)).isPresent();
  }

  /** Its channel could miss the end of a queue that was declared anew. */
  @Tag("trap-23")
  @Test
  void aChannelThatHeldIsNotUsedAgain() throws Exception {
    String a = declare("a");
    consumers.release(call(), take(a).orElseThrow());
    HoldingConsumer first = take(a).orElseThrow();
    consumers.release(call(), first);
    await().until(() -> !first.channel().getChannel().isOpen());
    for (int i = 0; i < 10; i++) {
      HoldingConsumer next = take(a).orElseThrow();
      assertThat(next.channel().channel()).isNotSameAs(first.channel().channel());
      consumers.release(call(), next);
    }
  }

  /** And what is over it is free for other calls, and comes back. */
  @Test
  void heldLocksAreBoundedByThreeQuartersOfTheChannels() throws Exception {
    List<HoldingConsumer> held = new ArrayList<>();
    for (int i = 0; i < CHANNELS * 3 / 4; i++) {
      held.add(take(declare("q" + i)).orElseThrow());
    }
    String more = declare("q12");
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> take(more))
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("12 channels")
          .hasMessageContaining("channel_max");
    }
    consumers.release(call(), held.remove(0));
    held.add(take(more).orElseThrow());
    held.forEach(each -> consumers.release(call(), each));
    assertThat(consumers.count(call(), more)).hasValue(0);
  }
}
