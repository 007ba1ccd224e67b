package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A channel is idle again when the last of its owners has left, and each leaves once. */
@Tag("defect-S3")
@BrokerTest
class BorrowedChannelTest {

  private final ExecutorService background = Executors.newSingleThreadExecutor();
  private Connection connection;
  private ConsumerChannelPool channels;

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("loans");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    channels = new ConsumerChannelPool(connection, rpc, background);
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    background.shutdownNow();
  }

  private BorrowedChannel borrow() {
    return channels.borrow(
        Call.on(LockId.mutex("m"), Duration.ofSeconds(20), Ticker.SYSTEM), "consume", "");
  }

  @Test
  void whoHasLeftTakesNothingFromTheNextOne() {
    BorrowedChannel first = borrow();
    channels.giveBack(first);
    BorrowedChannel second = borrow();
    assertThat(second.channel()).isSameAs(first.channel());
    channels.giveBack(first);
    channels.discard(first);
    assertThat(channels.share(first)).isEmpty();
    assertThat(borrow().channel()).isNotSameAs(second.channel());
    // Nor was it worn out by the one who had left.
    channels.giveBack(second);
    assertThat(borrow().channel()).isSameAs(second.channel());
  }

  @Test
  void isNobodyElsesWhileAQuestionIsOpenThere() {
    BorrowedChannel holder = borrow();
    BorrowedChannel asking = channels.share(holder).orElseThrow();
    channels.giveBack(holder);
    channels.giveBack(holder);
    assertThat(borrow().channel()).isNotSameAs(holder.channel());
    channels.giveBack(asking);
    assertThat(borrow().channel()).isSameAs(holder.channel());
  }
}
