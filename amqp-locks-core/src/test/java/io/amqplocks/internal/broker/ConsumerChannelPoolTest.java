package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of a connection when the broker does not answer one of its channels. */
@Tag("trap-6")
@BrokerTest(everyLine = true)
class ConsumerChannelPoolTest {

  /** After that the client gives up a close, and gives the channel's number to the next one. */
  private static final Duration RPC_TIMEOUT = Duration.ofSeconds(3);

  private final ExecutorService background = Executors.newCachedThreadPool();

  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private ConsumerChannelPool channels;
  private final Call call = Call.on(LockId.mutex("m"), Duration.ofMinutes(1), Ticker.SYSTEM);

  @BeforeEach
  void open(Broker broker) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setChannelShouldCheckRpcResponseType(true);
    factory.setChannelRpcTimeout(Math.toIntExact(RPC_TIMEOUT.toMillis()));
    connection = factory.newConnection("carrying");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    channels = new ConsumerChannelPool(connection, rpc, background);
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    background.shutdownNow();
  }

  @Test
  void aStuckChannelDoesNotCostTheConnection(Broker broker) throws Exception {
    String queue = fixture.prefix() + "hangs";
    try (Channel channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, null);
    }
    BorrowedChannel loan = channels.borrow(call, "consume", "");
    Basic.Consume consume = new Basic.Consume.Builder().queue(queue).consumerTag("tag").build();
    assertThat(channels.ask(call, "consume", loan, consume, Reading.NOTHING)).isEqualTo(Answer.OK);
    broker.faults().suspendQueue(queue);
    try {
      // The channel waits for the queue, and answers nothing else.
      loan.cancel("tag");
      channels.discard(loan);
      await()
          .during(RPC_TIMEOUT.multipliedBy(2))
          .atMost(Duration.ofMinutes(1))
          .until(connection::isOpen);
      channels.giveBack(channels.borrow(call, "consume", ""));
      assertThat(loan.getChannel().isOpen()).isTrue();
    } finally {
      broker.faults().resumeQueue(queue);
    }
    await().until(() -> !loan.getChannel().isOpen());
    channels.giveBack(channels.borrow(call, "consume", ""));
    assertThat(connection.isOpen()).isTrue();
  }
}
