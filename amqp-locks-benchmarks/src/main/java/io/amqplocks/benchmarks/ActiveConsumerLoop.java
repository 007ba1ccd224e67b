package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.Basic.Cancel;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The steps of a mutex by the bare client: consume a queue with a single active consumer, receive
 * its message, cancel, and requeue the message. Cancel and requeue are not confirmed, as in the
 * library.
 *
 * <p>Concurrency: for one thread at a time; the client's thread hands deliveries over.
 */
final class ActiveConsumerLoop extends DefaultConsumer {

  private final String queue;
  private final BlockingQueue<Long> delivered = new ArrayBlockingQueue<>(1);
  private long lastTag;

  ActiveConsumerLoop(Channel channel, String queue) throws Exception {
    super(channel);
    this.queue = queue;
    channel.basicQos(1);
  }

  /** Creates the queue with its message. */
  static String declare(Lab lab, Channel channel, String name) throws Exception {
    String queue = lab.leaving(lab.prefix() + "floor." + name);
    Map<String, Object> arguments = new HashMap<>();
    arguments.put("x-queue-type", "classic");
    arguments.put("x-single-active-consumer", true);
    arguments.put("x-max-length", 1);
    arguments.put("x-overflow", "reject-publish");
    arguments.put("x-expires", 60_000);
    channel.queueDeclare(queue, true, false, false, arguments);
    channel.basicPublish(
        "", queue, new BasicProperties.Builder().deliveryMode(1).build(), new byte[0]);
    return queue;
  }

  @Override
  public void handleDelivery(
      String tag, Envelope envelope, BasicProperties properties, byte[] body) {
    delivered.add(envelope.getDeliveryTag());
  }

  /** Consumes; returns the consumer's tag. */
  String consume() throws Exception {
    return getChannel().basicConsume(queue, false, "floor-" + ++lastTag, this);
  }

  /** Waits for the message; returns its delivery tag. */
  long receive() throws Exception {
    Long tag = delivered.poll(30, TimeUnit.SECONDS);
    if (tag == null) {
      throw new IllegalStateException("No message came");
    }
    return tag;
  }

  /** Ends the consumer and requeues the message. */
  void release(String consumer, long message) throws Exception {
    getChannel().asyncRpc(new Cancel.Builder().consumerTag(consumer).nowait().build());
    getChannel().basicNack(message, false, true);
  }

  /** All of it. */
  void run() throws Exception {
    String consumer = consume();
    release(consumer, receive());
  }
}
