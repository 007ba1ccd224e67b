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
import org.jspecify.annotations.Nullable;

/**
 * The connection of one administrator at work. It owns the exclusive queue that is the
 * administrator's turn, and it publishes. An administrator that was overtaken therefore has no
 * connection left to publish on. Each step is bounded by its call. After a failed step the
 * connection can only be closed.
 *
 * <p>All steps share one channel, because opening and closing one takes a round trip each. A
 * channel on which a step failed, or was not answered, is never used again.
 *
 * <p>Concurrency: for one thread.
 */
public final class AdminConnection implements AutoCloseable {

  private final Connection connection;
  private final int closeMillis;

  /** The channel of the last step, if that succeeded. */
  private @Nullable Channel idle;

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
      Channel channel = takeChannel(call, step);
      reading.of(channel, rpc(call, channel, method));
      idle = channel;
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
      Channel channel = takeChannel(call, step);
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
      idle = channel;
      return taken;
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  private Channel takeChannel(Call call, String step) throws IOException {
    Channel channel = idle;
    idle = null;
    return channel == null ? open(call, step) : channel;
  }

  private Channel open(Call call, String step) throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw call.noChannel(step);
    }
    return channel;
  }

  /**
   * Opens a channel for the caller alone, who closes it. What the steps before have sent is done by
   * then, a message that was put back too: the broker orders only what comes by one channel.
   */
  public Channel openChannel(Call call, String step) {
    try {
      Channel before = idle;
      idle = null;
      if (before != null) {
        before.close();
      }
      return open(call, step);
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
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
