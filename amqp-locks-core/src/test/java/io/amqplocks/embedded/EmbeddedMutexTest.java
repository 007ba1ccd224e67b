package io.amqplocks.embedded;

import static io.amqplocks.support.Fixture.AT_ONCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

@BrokerTest(embedded = true)
class EmbeddedMutexTest extends EmbeddedLockContract {

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.mutex(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().mutex(name).isHeld();
  }

  /** Qpid may send the message after both have seen that they are not alone. */
  @Override
  protected int leastWinners(int rounds) {
    return rounds / 2;
  }

  /** Nobody tells the holder that its queue was deleted, and the new one has a message. */
  @Test
  void aMutexThatAnotherClientHasIsLost() throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying().callTimeout(Duration.ofSeconds(2)));
    Lease lease = locks.mutex("m").acquire(AT_ONCE);
    String queue = fixture.names().mutex(lease.lock().name());
    try (Connection other = fixture.stranger()) {
      Channel channel = other.createChannel();
      channel.queueDelete(queue);
      channel.queueDeclare(queue, true, false, false, Map.of("x-single-active-consumer", true));
      channel.basicQos(1);
      channel.basicConsume(
          queue, false, "", false, false, Map.of("x-priority", 0), new DefaultConsumer(channel));
      channel.basicPublish("", queue, null, new byte[0]);
      await().untilAsserted(() -> assertThat(lease.verify()).isEqualTo(LeaseState.LOST));
      assertThat(lease.lossReason().orElseThrow().detail()).contains("another active consumer");
    }
  }
}
