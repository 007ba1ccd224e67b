package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.Queue.Declare;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

// Trap 7 has no test: a minority and a crashed node need a cluster, and these brokers are single
// nodes.
// Of trap 14 the HTTP API's part has none: the brokers run without the management plugin.
@BrokerTest(everyLine = true)
class QueueArgumentsTest {

  /** As PROTOCOL.md has it: a client that declares the queue otherwise is refused. */
  @Test
  void theQueueOfAMutexIsDeclaredAsDocumented() {
    assertThat(QueueArguments.mutex("m").getArguments())
        .isEqualTo(
            Map.of(
                "x-queue-type",
                "classic",
                "x-single-active-consumer",
                true,
                "x-max-length",
                1,
                "x-overflow",
                "reject-publish",
                "x-expires",
                60_000));
  }

  /** The same, but it stays when nobody uses it. */
  @Test
  void theQueueOfAPersistentMutexIsDeclaredAsDocumented() {
    assertThat(QueueArguments.persistentMutex("m").getArguments())
        .isEqualTo(
            Map.of(
                "x-queue-type",
                "classic",
                "x-single-active-consumer",
                true,
                "x-max-length",
                1,
                "x-overflow",
                "reject-publish"));
  }

  /**
   * A broker may refuse queues that are neither durable nor exclusive: 4.3.0 is said to do so,
   * 4.3.6 permits them unless configured otherwise. Ours are never of that kind.
   */
  @Tag("trap-13")
  @Test
  void noQueueOfOursIsTransientAndNotExclusive(Broker broker) throws Exception {
    String prefix = new Fixture(broker).prefix();
    try (Connection connection = broker.connectionFactory().newConnection()) {
      Channel channel = connection.createChannel();
      for (Declare ours :
          List.of(
              QueueArguments.exclusive(prefix + "b"),
              QueueArguments.slot(prefix + "a"),
              QueueArguments.mutex(prefix + "m"),
              QueueArguments.persistentMutex(prefix + "p"))) {
        assertThat(ours.getDurable()).isNotEqualTo(ours.getExclusive());
        // Again is the same: nothing in the arguments makes a second declare another one.
        channel.asyncCompletableRpc(ours).get();
        channel.asyncCompletableRpc(ours).get();
        assertThat(broker.faults().queues())
            .filteredOn(queue -> queue.name().equals(ours.getQueue()))
            .extracting(BrokerQueue::exclusive)
            .containsExactly(ours.getExclusive());
        channel.queueDelete(ours.getQueue());
      }
    }
  }
}
