package io.amqplocks.internal.slots.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A queue disappears while a probe is on its way to it, and the connection is closed. */
@Tag("trap-20")
@BrokerTest
class UndeliveredProbeTest {

  private final Broker broker;
  private ProberSession session;

  UndeliveredProbeTest(Broker broker) {
    this.broker = broker;
  }

  @BeforeEach
  void open() throws Exception {
    session = new ProberSession(broker.connectionFactory(), "undelivered-", Duration.ofSeconds(10));
  }

  @AfterEach
  void close() throws Exception {
    session.close();
  }

  /** Its batches fail as if the connection had been closed with that code. */
  private static final class FailingProbe extends PublishingProbe {
    FailingProbe(int replyCode) {
      super(channel -> new FailingChannel(channel, replyCode));
    }
  }

  private static final class FailingChannel extends PublishingChannel {
    private final int replyCode;

    FailingChannel(Channel channel, int replyCode) {
      super(channel, false);
      this.replyCode = replyCode;
    }

    @Override
    long firstSequence() {
      return 1;
    }

    @Override
    void published() {
      batch()
          .failed(
              new ShutdownSignalException(
                  true,
                  false,
                  new AMQP.Connection.Close.Builder()
                      .replyCode(replyCode)
                      .replyText("for the test")
                      .build(),
                  null));
    }
  }

  /** Of queues that exist: the broker returns what is published to others, perhaps in time. */
  private List<Presence> probe(int replyCode) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection()) {
      Channel channel = connection.createChannel();
      List<String> queues =
          List.of(channel.queueDeclare().getQueue(), channel.queueDeclare().getQueue());
      return new FailingProbe(replyCode).probe(session.call(), session.prober(), queues);
    }
  }

  @Test
  void whatWasProbedIsUnknown() throws Exception {
    assertThat(probe(AMQP.RESOURCE_ERROR)).containsExactly(Presence.UNKNOWN, Presence.UNKNOWN);
  }

  @Test
  void anyOtherEndOfTheConnectionIsAnOutage() {
    assertThatThrownBy(() -> probe(AMQP.INTERNAL_ERROR))
        .isInstanceOf(LockException.Unreachable.class);
  }
}
