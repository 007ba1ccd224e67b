package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Queue.Delete;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Makes counters, one maker at a time. The exclusive queue that says whose turn it is belongs to the
 * very connection that publishes: a maker that was overtaken has no connection left to publish by. So
 * a counter is filled by one maker only, and once. For one thread; each step is bounded by the call's
 * bound, and after one that failed the connection is of no more use than to be closed.
 */
public final class CounterKeeper implements AutoCloseable {

  private final Connection connection;
  private final int closeMillis;
  private final int brokerMajor;

  CounterKeeper(Call call, Connection connection, Duration closeTimeout) {
    this.connection = connection;
    closeMillis = Math.toIntExact(closeTimeout.toMillis());
    try {
      brokerMajor = major(call, connection);
    } catch (LockException e) {
      connection.abort(closeMillis);
      throw e;
    }
  }

  static int major(Call call, Connection connection) {
    Object product = connection.getServerProperties().get("product");
    String version = String.valueOf(connection.getServerProperties().get("version"));
    int dot = version.indexOf('.');
    if ("RabbitMQ".equals(String.valueOf(product)) && dot > 0 && dot < 4) {
      String major = version.substring(0, dot);
      if (major.chars().allMatch(Character::isDigit)) {
        return Integer.parseInt(major);
      }
    }
    throw new LockException.FenceUnavailable(
        "There are no fencing tokens of %s: they need quorum queues of RabbitMQ, and this broker is %s %s"
            .formatted(call.lock(), product, version));
  }

  /** The first number of the broker's version. */
  public int brokerMajor() {
    return brokerMajor;
  }

  /** Takes the turn; false while another has it. */
  public boolean take(Call call, String adminQueue) {
    return ask(call, "declare queue " + adminQueue, QueueArguments.exclusive(adminQueue))
        == Answer.OK;
  }

  /** Whether the queue is there. */
  public boolean exists(Call call, String queue) {
    return ask(call, "look for queue " + queue, QueueArguments.passive(queue)) == Answer.OK;
  }

  /** Declares a queue that says by its being there that a counter is in use. */
  public void declareEpoch(Call call, String queue) {
    must(call, "declare queue " + queue, QueueArguments.slot(queue));
  }

  /** Deletes a counter; one that is not there is as good as deleted. */
  public void delete(Call call, String queue) {
    must(call, "delete queue " + queue, new Delete.Builder().queue(queue).build());
  }

  /** Declares a counter and gives it its message; for a queue that was never there before. */
  public void make(Call call, String queue, String content) {
    must(call, "declare counter " + queue, QueueArguments.counter(queue, brokerMajor));
    String step = "fill counter " + queue;
    try {
      Channel channel = channel(call, step);
      channel.confirmSelect();
      channel.basicPublish(
          "",
          queue,
          MessageProperties.MINIMAL_PERSISTENT_BASIC,
          content.getBytes(StandardCharsets.UTF_8));
      if (!channel.waitForConfirms(Math.max(1, call.remainingNanos() / 1_000_000))) {
        throw new LockException.FenceUnavailable(
            "RabbitMQ did not take the message of counter %s for %s; is there a policy on it?"
                .formatted(queue, call.lock()));
      }
      channel.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted when to " + step + " for " + call.lock());
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /** Reads a counter, which then counts one more. */
  public CounterReading read(Call call, String queue) {
    String step = "read counter " + queue;
    try {
      Channel channel = channel(call, step);
      CounterReading reading =
          CounterQueues.putBack(
              channel, rpc(call, channel, new Get.Builder().queue(queue).build()));
      channel.close();
      return reading;
    } catch (ExecutionException e) {
      if (BrokerErrors.expected(e) == Answer.ABSENT) {
        return CounterReading.ABSENT;
      }
      throw BrokerErrors.calling(call, step, e);
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  private void must(Call call, String step, Method method) {
    Answer answer = ask(call, step, method);
    if (answer != Answer.OK) {
      throw new LockException.Unexpected(
          "RabbitMQ did not %s for %s: the queue is %s, or its node is down"
              .formatted(step, call.lock(), answer),
          null);
    }
  }

  private Answer ask(Call call, String step, Method method) {
    try {
      Channel channel = channel(call, step);
      rpc(call, channel, method);
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

  private Channel channel(Call call, String step) throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw call.noChannel(step);
    }
    return channel;
  }

  private static Command rpc(Call call, Channel channel, Method method)
      throws IOException, ExecutionException, TimeoutException {
    return Futures.await(channel.asyncCompletableRpc(method), call.remainingNanos());
  }

  /** Gives up the turn. */
  @Override
  public void close() {
    connection.abort(closeMillis);
  }
}
