package io.amqplocks.sample.demo;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeoutException;

/**
 * The demo's durable queues: the one with the work, and the slots. A broker that was lent to the
 * demo, by {@code AMQP_LOCKS_BROKER_URI}, gets back without them.
 */
final class DemoQueues implements AutoCloseable {

  private static final String WORK = "images.todo";

  private final String prefix = "amqp-locks.demo-" + ProcessHandle.current().pid() + ".";
  private final int slots;
  private final Connection connection;
  private final Channel channel;

  DemoQueues(Broker broker, int slots) throws IOException, TimeoutException {
    this.slots = slots;
    this.connection = broker.connectionFactory().newConnection("demo");
    this.channel = connection.createChannel();
    channel.queueDeclare(WORK, true, false, false, null);
    channel.queuePurge(WORK);
    channel.confirmSelect();
  }

  /** What the slots' names begin with. */
  String prefix() {
    return prefix;
  }

  /** Adds the names of these images to the work, in this order. */
  void add(List<String> images) throws IOException, InterruptedException, TimeoutException {
    for (String image : images) {
      channel.basicPublish(
          "",
          WORK,
          MessageProperties.PERSISTENT_TEXT_PLAIN,
          image.getBytes(StandardCharsets.UTF_8));
    }
    channel.waitForConfirmsOrDie(10_000);
  }

  /** Deletes them, once nobody uses them any more. */
  @Override
  public void close() {
    try (connection) {
      channel.queueDelete(WORK);
      for (int slot = 1; slot <= slots; slot++) {
        channel.queueDelete(prefix + "semaphore.images.slot." + slot);
      }
    } catch (IOException | ShutdownSignalException gone) {
      // With a broker that has ended, which was not lent.
    }
  }
}
