package io.amqplocks.prover.run;

import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A queue that the broker has lost: it is there, and answers nobody. RabbitMQ 3.10 does that to
 * some quorum queues that are a few seconds old when the broker is killed. No client can do
 * anything about it, so it is not the locks' fault.
 */
final class LostQueue {

  private static final Pattern QUEUE = Pattern.compile("queue (\\S+)");

  private LostQueue() {}

  /**
   * The queue whose silence is the reason for that failure, if it does not answer a bare client.
   */
  static Optional<String> behind(LockException failure, Broker broker, Duration patience) {
    Matcher named = QUEUE.matcher(String.valueOf(failure.getMessage()));
    return failure instanceof LockException.Unanswered && named.find()
        ? Optional.of(named.group(1)).filter(queue -> isSilent(queue, broker, patience))
        : Optional.empty();
  }

  private static boolean isSilent(String queue, Broker broker, Duration patience) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setChannelRpcTimeout(Math.toIntExact(patience.toMillis()));
    try {
      Connection connection = factory.newConnection("prover-bare");
      try {
        connection.createChannel().basicGet(queue, false);
        return false;
      } finally {
        connection.abort(1_000);
      }
    } catch (ChannelContinuationTimeoutException e) {
      return true;
    } catch (IOException | TimeoutException e) {
      return false;
    }
  }
}
