package io.amqplocks.internal.consuming;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A verification counts the queue's consumers. RabbitMQ notifies of the end of a consumer as well,
 * so these are holds that were not notified.
 */
@BrokerTest(everyLine = true)
class ConsumerHoldTest {

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ProberSession session;
  private HoldingConsumers consumers;
  private String queue;

  @BeforeEach
  void open(Broker broker) throws Exception {
    session = new ProberSession(broker.connectionFactory(), "consumer-hold", Duration.ofSeconds(5));
    consumers = HoldingConsumers.of(session.session());
    queue = fixture.prefix() + "q";
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().asyncCompletableRpc(QueueArguments.slot(queue)).get();
    }
  }

  @AfterEach
  void close() {
    session.close();
  }

  private HoldingConsumer consuming() {
    HoldingConsumer consumer = consumers.prepare(session.call(), queue);
    assertThat(consumers.consume(session.call(), consumer, Access.SHARED)).isEqualTo(Answer.OK);
    return consumer;
  }

  private HoldStatus status(HoldingConsumer consumer, Access access) {
    return new ConsumerHold(LockId.writeLock("q"), consumer, access, null)
        .status(session.call(), session.session());
  }

  @Test
  void aConsumerThatTheQueueDoesNotHaveHoldsNothing() {
    HoldingConsumer consumer = consumers.prepare(session.call(), queue);
    assertThat(consumer.isGone()).isFalse();
    assertThat(status(consumer, Access.SHARED)).isEqualTo(HoldStatus.GONE);
    assertThat(consumer.fate()).contains("has no consumer");
  }

  @Test
  void whoShouldBeAloneAndIsNotHoldsNothing() {
    HoldingConsumer first = consuming();
    HoldingConsumer second = consuming();
    assertThat(status(second, Access.SHARED)).isEqualTo(HoldStatus.OURS);
    assertThat(status(first, Access.EXCLUSIVE)).isEqualTo(HoldStatus.GONE);
    assertThat(first.fate()).contains("2 consumers");
  }

  @Test
  void whoIsAloneHolds() {
    assertThat(status(consuming(), Access.EXCLUSIVE)).isEqualTo(HoldStatus.OURS);
  }
}
