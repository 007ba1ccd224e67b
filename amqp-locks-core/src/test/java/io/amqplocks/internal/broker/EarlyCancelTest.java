package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A consumer that is cancelled before the broker has confirmed it. */
@Tag("trap-18")
@BrokerTest(everyLine = true)
class EarlyCancelTest {

  /** Enough for 3.10 to meet the two in the wrong order many times. */
  private static final int CONSUMERS = 200;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final ExecutorService background = Executors.newSingleThreadExecutor();
  private final ExecutorService asking = Executors.newSingleThreadExecutor();
  private Connection connection;
  private ConsumerChannelPool channels;

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("early cancels");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    channels = new ConsumerChannelPool(connection, rpc, background);
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    asking.shutdownNow();
    background.shutdownNow();
  }

  private static Call call() {
    return Call.on(LockId.mutex("m"), Duration.ofSeconds(60), Ticker.SYSTEM);
  }

  private static Basic.Consume consume(String queue, String tag) {
    return new Basic.Consume.Builder().queue(queue).consumerTag(tag).build();
  }

  @Test
  void waitsForTheConfirmation() throws Exception {
    Channel observer = connection.createChannel();
    String queue = fixture.prefix() + "early";
    observer.queueDeclare(queue, false, true, false, Map.of());
    BorrowedChannel loan = channels.borrow(call(), "consume", "");
    Basic.Consume consume = consume(queue, "early");
    assertThat(loan.channel().asks(consume)).isTrue();
    loan.cancel("early");
    loan.cancel("another's");
    loan.getChannel().rpc(consume);
    assertThat(observer.consumerCount(queue)).isEqualTo(1);
    loan.channel().answered();
    await().untilAsserted(() -> assertThat(observer.consumerCount(queue)).isZero());
  }

  @Test
  void endsTheConsumerAndNotTheConnection() throws Exception {
    Channel observer = connection.createChannel();
    String queue = fixture.prefix() + "early";
    observer.queueDeclare(queue, false, true, false, Map.of());
    Call call = call();
    for (int i = 0; i < CONSUMERS; i++) {
      BorrowedChannel loan = channels.borrow(call, "consume", "");
      String tag = "early-" + i;
      CompletableFuture<Answer> answer =
          CompletableFuture.supplyAsync(
              () ->
                  channels.ask(
                      call, "consume", loan, consume(queue, tag), Reading.NOTHING, late -> {}),
              asking);
      // One of them is sent between the consume and its confirmation.
      do {
        loan.cancel(tag);
      } while (!answer.isDone());
      assertThat(answer.join()).isEqualTo(Answer.OK);
      loan.cancel(tag);
      channels.giveBack(loan);
    }
    await().untilAsserted(() -> assertThat(observer.consumerCount(queue)).isZero());
    assertThat(connection.isOpen()).isTrue();
  }
}
