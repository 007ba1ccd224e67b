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
 * A queue that exists and answers nobody. It was seen on RabbitMQ 3.10.8, with quorum queues that
 * were a few seconds old when the broker was killed. Why is not known. A bare client gets no answer
 * either, so the lock that waits for one is not counted as stuck.
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
