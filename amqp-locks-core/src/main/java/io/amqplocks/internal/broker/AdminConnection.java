package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.Delete;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * The connection of one administrator at work. It owns the exclusive queue that is the
 * administrator's turn, and it publishes. An administrator that was overtaken therefore has no
 * connection left to publish on. Each step is bounded by its call. After a failed step the
 * connection can only be closed.
 *
 * <p>Concurrency: for one thread.
 */
public final class AdminConnection implements AutoCloseable {

  private final Connection connection;
  private final int closeMillis;

  AdminConnection(Connection connection, Duration closeTimeout) {
    this.connection = connection;
    closeMillis = Math.toIntExact(closeTimeout.toMillis());
  }

  /** What the broker at the other end can do. */
  public BrokerProfile broker() {
    return BrokerProfile.of(connection);
  }

  public void must(Call call, String step, Method method) {
    must(call, step, ask(call, step, method));
  }

  private static void must(Call call, String step, Answer answer) {
    if (answer != Answer.OK) {
      throw new LockException.Unexpected(
          "RabbitMQ did not %s for %s: the queue is %s, or its node is down"
              .formatted(step, call.lock(), answer),
          null);
    }
  }

  public Answer ask(Call call, String step, Method method) {
    return ask(call, step, method, (channel, reply) -> {});
  }

  /** Deletes the queue; does nothing if it does not exist, which not all brokers take for done. */
  public void delete(Call call, String queue) {
    String step = "delete queue " + queue;
    Answer answer = ask(call, step, new Delete.Builder().queue(queue).build());
    if (answer != Answer.ABSENT) {
      must(call, step, answer);
    }
  }

  /** Looks for a queue by a passive declare. */
  public QueueState look(Call call, String queue) {
    QueueState.Reader reader = new QueueState.Reader();
    return reader.state(
        ask(call, "look for queue " + queue, QueueArguments.passive(queue), reader::of));
  }

  /** Reads a reply while its channel is still open. */
  @FunctionalInterface
  public interface Reading {
    void of(Channel channel, Command reply) throws IOException;
  }

  public Answer ask(Call call, String step, Method method, Reading reading) {
    try {
      Channel channel = channel(call, step);
      reading.of(channel, rpc(call, channel, method));
      channel.close();
      return Answer.OK;
    } catch (ExecutionException e) {
      Answer answer = BrokerErrors.expected(e);
      if (answer != null) {
        return answer;
      }
      throw BrokerErrors.calling(call, step, e);
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /** Publishes persistent messages, and returns whether the broker confirmed all of them. */
  public boolean publish(Call call, String step, String queue, List<String> texts) {
    try {
      Channel channel = channel(call, step);
      channel.confirmSelect();
      for (String text : texts) {
        channel.basicPublish(
            "",
            queue,
            MessageProperties.MINIMAL_PERSISTENT_BASIC,
            text.getBytes(StandardCharsets.UTF_8));
      }
      boolean taken =
          Futures.uninterruptibly(
              () -> channel.waitForConfirms(Math.max(1, call.remainingNanos() / 1_000_000)));
      channel.close();
      return taken;
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  public Channel channel(Call call, String step) throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw call.noChannel(step);
    }
    return channel;
  }

  public static Command rpc(Call call, Channel channel, Method method)
      throws IOException, ExecutionException, TimeoutException {
    return Futures.await(channel.asyncCompletableRpc(method), call.remainingNanos());
  }

  @Override
  public void close() {
    connection.abort(closeMillis);
  }
}
