package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

@BrokerTest(ownBroker = true)
class LostQueueTest {

  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final String queue = "lost-" + UUID.randomUUID();

  private LockException failure() {
    return new LockException.Unanswered(
        "RabbitMQ did not answer when asked to get from queue " + queue + " for l");
  }

  @Test
  void isOneThatAnswersNobody(Broker broker) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection();
        Channel channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "classic"));
      assertThat(LostQueue.behind(failure(), broker, PATIENCE)).isEmpty();
      broker.faults().suspendQueue(queue);
      assertThat(LostQueue.behind(failure(), broker, PATIENCE)).contains(queue);
      LockException busy = new LockException.AcquireTimeout("not free in queue " + queue);
      assertThat(LostQueue.behind(busy, broker, PATIENCE)).isEmpty();
      broker.faults().resumeQueue(queue);
      assertThat(LostQueue.behind(failure(), broker, PATIENCE)).isEmpty();
      channel.queueDelete(queue);
    }
  }

  /** It is not there, which the broker says. */
  @Test
  void isNotOneThatIsMissing(Broker broker) {
    assertThat(LostQueue.behind(failure(), broker, PATIENCE)).isEmpty();
  }
}
