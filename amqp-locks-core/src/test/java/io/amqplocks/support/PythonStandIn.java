package io.amqplocks.support;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A client of the amqp-locks-python kind, in raw AMQP, as far as its protocol is known: slots N-A-L
 * and holders N-B-L from 1, probed one by one with mandatory transient publishes and confirms; A
 * and B with x-max-length 0, B exclusive and not auto-delete; A verified again after B was
 * declared. A is not durable, as the real client has it: RabbitMQ 4.3 permits that unless its
 * operator denies it (trap 13).
 */
public final class PythonStandIn implements AutoCloseable {

  private static final Map<String, Object> ARGUMENTS = Map.of("x-max-length", 0);

  private final String name;
  private final Connection connection;
  private final Channel prober;
  private final AtomicBoolean returned = new AtomicBoolean();

  /** A client for the semaphore of that name. */
  public PythonStandIn(Broker broker, String name) throws Exception {
    this.name = name;
    connection = broker.connectionFactory().newConnection("python stand-in");
    prober = connection.createChannel();
    prober.confirmSelect();
    prober.addReturnListener(message -> returned.set(true));
  }

  /** Declares the slots, upwards. */
  public void create(int slots) throws IOException {
    try (Channel channel = connection.createChannel()) {
      for (int slot = 1; slot <= slots; slot++) {
        channel.queueDeclare(name + "-A-" + slot, false, false, false, ARGUMENTS);
      }
    } catch (TimeoutException e) {
      throw new IOException(e);
    }
  }

  /** Deletes the slots, downwards. */
  public void destroy(int slots) throws Exception {
    try (Channel channel = connection.createChannel()) {
      for (int slot = slots; slot >= 1; slot--) {
        channel.queueDelete(name + "-A-" + slot);
      }
    }
  }

  /** Takes the lowest free slot. */
  public OptionalInt tryAcquire() throws Exception {
    for (int slot = 1; exists(name + "-A-" + slot); slot++) {
      if (!exists(name + "-B-" + slot) && declare(name + "-B-" + slot)) {
        if (exists(name + "-A-" + slot)) {
          return OptionalInt.of(slot);
        }
        release(slot);
      }
    }
    return OptionalInt.empty();
  }

  /** Gives the slot back. */
  public void release(int slot) throws Exception {
    try (Channel channel = connection.createChannel()) {
      channel.queueDelete(name + "-B-" + slot);
    }
  }

  private boolean declare(String queue) throws IOException {
    Channel channel = connection.createChannel();
    try {
      channel.queueDeclare(queue, false, true, false, ARGUMENTS);
      channel.abort();
      return true;
    } catch (IOException e) {
      return false; // lost the race
    }
  }

  private boolean exists(String queue) throws Exception {
    returned.set(false);
    prober.basicPublish("", queue, true, MessageProperties.MINIMAL_BASIC, new byte[0]);
    prober.waitForConfirmsOrDie(30_000);
    return !returned.get();
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
