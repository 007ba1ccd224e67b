package io.amqplocks.internal.session;

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
 * The connection of one administrator at work: it owns the exclusive queue that says whose turn it is,
 * and it publishes. So one that was overtaken has nothing left to publish by. For one thread; each step
 * is bounded by its call, and after one that failed the connection is of no more use than to be closed.
 */
final class AdministratorConnection implements AutoCloseable {

  private final Connection connection;
  private final int closeMillis;

  AdministratorConnection(Connection connection, Duration closeTimeout) {
    this.connection = connection;
    closeMillis = Math.toIntExact(closeTimeout.toMillis());
  }

  Server server() {
    return Server.of(connection.getServerProperties());
  }

  void must(Call call, String step, Method method) {
    Answer answer = ask(call, step, method);
    if (answer != Answer.OK) {
      throw new LockException.Unexpected(
          "RabbitMQ did not %s for %s: the queue is %s, or its node is down"
              .formatted(step, call.lock(), answer),
          null);
    }
  }

  Answer ask(Call call, String step, Method method) {
    return ask(call, step, method, (channel, reply) -> {});
  }

  /** What to do with the answer while its channel is still open. */
  @FunctionalInterface
  interface Reading {
    void of(Channel channel, Command reply) throws IOException;
  }

  Answer ask(Call call, String step, Method method, Reading reading) {
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

  /** Publishes persistent messages, and says whether the broker took all of them. */
  boolean publish(Call call, String step, String queue, List<String> texts) {
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
      boolean taken = awaitConfirms(call, channel);
      channel.close();
      return taken;
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /** An interrupt does not cut it short, or nobody would know what the broker has; see {@link Futures}. */
  private static boolean awaitConfirms(Call call, Channel channel) throws TimeoutException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return channel.waitForConfirms(Math.max(1, call.remainingNanos() / 1_000_000));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  Channel channel(Call call, String step) throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw call.noChannel(step);
    }
    return channel;
  }

  static Command rpc(Call call, Channel channel, Method method)
      throws IOException, ExecutionException, TimeoutException {
    return Futures.await(channel.asyncCompletableRpc(method), call.remainingNanos());
  }

  @Override
  public void close() {
    connection.abort(closeMillis);
  }
}
