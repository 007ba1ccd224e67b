package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.GetResponse;
import java.util.List;
import java.util.Map;

/**
 * The steps of the protocol by the bare client, one channel, nothing around them.
 *
 * @param channel of a connection of its own
 */
record Raw(Channel channel) {

  private static final BasicProperties TRANSIENT =
      new BasicProperties.Builder().deliveryMode(1).build();

  void declareExclusive(String queue) throws Exception {
    channel.queueDeclare(queue, false, true, false, Lab.keepsNothing());
  }

  void delete(String queue) throws Exception {
    channel.queueDelete(queue);
  }

  /** How a lock hears of its queue's end. */
  void watch(String queue) throws Exception {
    channel.basicConsume(queue, true, new DefaultConsumer(channel));
  }

  /** Whether the queue is there, by a declare that makes nothing. */
  int consumers(String queue) throws Exception {
    return channel.queueDeclarePassive(queue).getConsumerCount();
  }

  String consumeExclusively(String queue) throws Exception {
    return channel.basicConsume(queue, true, "", false, true, null, new DefaultConsumer(channel));
  }

  String consume(String queue) throws Exception {
    return channel.basicConsume(queue, true, new DefaultConsumer(channel));
  }

  void cancel(String tag) throws Exception {
    channel.basicCancel(tag);
  }

  /**
   * One mandatory message to each, and one wait for all confirms; the channel must have confirms
   * on.
   */
  void probe(List<String> queues) throws Exception {
    for (String queue : queues) {
      channel.basicPublish("", queue, true, TRANSIENT, new byte[0]);
    }
    channel.waitForConfirmsOrDie(10_000);
  }

  /** Takes the message and puts it back; one that is still on its way back is asked for again. */
  void getAndReturn(String queue) throws Exception {
    GetResponse message = channel.basicGet(queue, false);
    while (message == null) {
      message = channel.basicGet(queue, false);
    }
    channel.basicNack(message.getEnvelope().getDeliveryTag(), false, true);
  }

  /** A queue of one message, to be taken and put back ever again; RabbitMQ 4 has to be told so. */
  void declareToken(String queue, String type) throws Exception {
    Object version = channel.getConnection().getServerProperties().get("version");
    boolean limited = type.equals("quorum") && !String.valueOf(version).startsWith("3.");
    channel.queueDeclare(
        queue,
        true,
        false,
        false,
        limited
            ? Map.of("x-queue-type", type, "x-delivery-limit", -1)
            : Map.of("x-queue-type", type));
    channel.basicPublish(
        "", queue, new BasicProperties.Builder().deliveryMode(2).build(), new byte[1]);
  }
}
