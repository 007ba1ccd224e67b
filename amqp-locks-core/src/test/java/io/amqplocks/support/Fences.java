package io.amqplocks.support;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import java.time.Duration;
import java.util.List;

/** What the tests of fences share. */
public final class Fences {

  private Fences() {}

  /** The token of a lease that is given back at once. */
  public static FencingToken token(AmqpLock lock) throws InterruptedException {
    try (Lease lease = lock.fenced().acquire(Duration.ofMinutes(2))) {
      return lease.fencingToken();
    }
  }

  /** The queues of fences under that prefix. */
  public static List<String> queues(Broker broker, String prefix) {
    return broker.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(prefix + "fence.") || name.startsWith(prefix + "epoch."))
        .sorted()
        .toList();
  }

  /** Deletes them. */
  public static void clear(Broker broker, String prefix) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      for (String queue : queues(broker, prefix)) {
        channel.queueDelete(queue);
      }
    }
  }

  /** Publishes to a queue as a stranger, with a confirm. */
  public static void publish(Broker broker, String queue, String text) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      channel.confirmSelect();
      channel.basicPublish("", queue, null, text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(30_000);
    }
  }

  /** Takes the message of a queue away, or only looks at it and dies. */
  public static String take(Broker broker, String queue, boolean forGood) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      GetResponse got = channel.basicGet(queue, false);
      if (forGood) {
        channel.basicAck(got.getEnvelope().getDeliveryTag(), false);
        channel.close();
      }
      return new String(got.getBody(), java.nio.charset.StandardCharsets.UTF_8);
    }
  }
}
