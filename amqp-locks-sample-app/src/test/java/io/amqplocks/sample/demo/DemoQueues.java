package io.amqplocks.sample.demo;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeoutException;

/**
 * The demo's durable queues: the one with the work, and those of the semaphore. Their names are
 * this run's own, so that demos that share a broker do not take each other's work, and a broker
 * that was lent, by {@code AMQP_LOCKS_BROKER_URI}, gets back with its own queues and without these.
 */
final class DemoQueues implements AutoCloseable {

  /** A prefix has 19 bytes at most. */
  private final String prefix = "demo-" + UUID.randomUUID().toString().substring(0, 8) + ".";

  private final Connection connection;
  private final Channel channel;
  private final AmqpLocks locks;

  /** Connects. Nothing is left behind yet. */
  DemoQueues(Broker broker) throws IOException, TimeoutException {
    this.connection = broker.connectionFactory().newConnection("demo");
    this.channel = connection.createChannel();
    channel.confirmSelect();
    // Connects when it is needed. Kept, because slots in use are removed by whoever made them
    // fewer.
    this.locks =
        AmqpLocks.builder(broker.connectionFactory())
            .queuePrefix(prefix)
            .connectionName("demo")
            .build();
  }

  /** Makes the queue with the work. */
  void declare() throws IOException {
    channel.queueDeclare(work(), true, false, false, null);
  }

  /** What the slots' names begin with. */
  String prefix() {
    return prefix;
  }

  /** The name of the queue with the work. */
  String work() {
    return prefix + "todo";
  }

  /** Adds the names of these images to the work, in this order. */
  void add(List<String> images) throws IOException, InterruptedException, TimeoutException {
    for (String image : images) {
      channel.basicPublish(
          "",
          work(),
          MessageProperties.PERSISTENT_TEXT_PLAIN,
          image.getBytes(StandardCharsets.UTF_8));
    }
    channel.waitForConfirmsOrDie(10_000);
  }

  /**
   * Changes how many slots there are.
   *
   * @throws LockException if the broker does not do it
   */
  void resize(SemaphoreAlgorithm algorithm, int slots) {
    (algorithm == SemaphoreAlgorithm.TOKENS
            ? locks.admin().tokenSemaphore("images")
            : locks.admin().slotSemaphore("images"))
        .resize(slots);
  }

  /** Deletes them, once nobody uses them any more. */
  @Override
  public void close() {
    try (connection;
        locks) {
      locks.admin().slotSemaphore("images").destroy();
      locks.admin().tokenSemaphore("images").destroy();
      // What is remembered of a token semaphore for good, in case that it is created again.
      for (String memory : List.of("record", "ledger")) {
        channel.queueDelete(prefix + "token-semaphore.images." + memory);
      }
      channel.queueDelete(work());
    } catch (IOException | ShutdownSignalException | LockException gone) {
      // With a broker that has ended, which was not lent.
    }
  }
}
