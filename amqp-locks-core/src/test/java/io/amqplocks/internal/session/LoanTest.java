package io.amqplocks.internal.session;

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
class LoanTest {

  private final ExecutorService background = Executors.newSingleThreadExecutor();
  private Connection connection;
  private DeliveryChannels channels;

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("loans");
    QuestionChannels questions = new QuestionChannels(connection, background, Ticker.SYSTEM);
    channels = new DeliveryChannels(connection, questions, background);
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    background.shutdownNow();
  }

  private Loan lend() {
    return channels.lend(
        Call.on(LockId.mutex("m"), Duration.ofSeconds(20), Ticker.SYSTEM), "consume");
  }

  @Test
  void whoHasLeftTakesNothingFromTheNextOne() {
    Loan first = lend();
    channels.giveBack(first);
    Loan second = lend();
    assertThat(second.lent()).isSameAs(first.lent());
    channels.giveBack(first);
    channels.discard(first);
    assertThat(channels.share(first)).isEmpty();
    assertThat(lend().lent()).isNotSameAs(second.lent());
    // Nor was it worn out by the one who had left.
    channels.giveBack(second);
    assertThat(lend().lent()).isSameAs(second.lent());
  }

  @Test
  void isNobodyElsesWhileAQuestionIsOpenThere() {
    Loan holder = lend();
    Loan asking = channels.share(holder).orElseThrow();
    channels.giveBack(holder);
    channels.giveBack(holder);
    assertThat(lend().lent()).isNotSameAs(holder.lent());
    channels.giveBack(asking);
    assertThat(lend().lent()).isSameAs(holder.lent());
  }
}
