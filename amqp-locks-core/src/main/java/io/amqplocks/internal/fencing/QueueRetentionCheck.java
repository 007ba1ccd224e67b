package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.MessageReading.Outcome;
import io.amqplocks.lock.LockException;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that the broker keeps a message of a quorum queue however often it is returned, and that
 * it counts the returns. The check detects a policy that drops the message early, and a broker that
 * does not count.
 */
public final class QueueRetentionCheck {

  private static final Logger log = LoggerFactory.getLogger(QueueRetentionCheck.class);

  /** More than RabbitMQ's own limit of 20 returns from 4.0 on. */
  private static final int READINGS = 25;

  private QueueRetentionCheck() {}

  /**
   * Creates a queue, reads its message many times, and deletes the queue.
   *
   * @param calls gives the call for each step, which may be the same for all of them; each step
   *     leaves half of its time, so that the queue can be deleted
   * @param name makes the queue's name from a random ending
   */
  public static void run(
      Supplier<Call> calls, CounterBroker connection, UnaryOperator<String> name) {
    String queue = name.apply(random());
    try {
      connection.make(calls.get().half(), queue, "trial");
      for (int i = 0; i < READINGS; i++) {
        Call call = calls.get().half();
        require(call, queue, connection.read(call, queue), i);
      }
    } finally {
      discard(calls.get(), connection, queue);
    }
  }

  /** A random ending that makes names differ. */
  public static String random() {
    return UUID.randomUUID().toString().substring(0, 8);
  }

  private static void discard(Call call, CounterBroker connection, String queue) {
    try {
      connection.delete(call, queue);
    } catch (LockException e) {
      log.warn("Queue {} stays behind and can be deleted: {}", queue, e.getMessage());
    }
  }

  static void require(Call call, String queue, MessageReading reading, long returns) {
    if (reading.outcome() != Outcome.READ || reading.returns() != returns || reading.others() > 0) {
      throw new LockException.FenceUnavailable(
          "RabbitMQ does not keep what %s needs: the message of quorum queue %s, read %d times, is %s, with"
                  .formatted(call.lock(), queue, returns, reading.outcome())
              + " %d returns counted; see that no policy sets delivery-limit, message-ttl, max-length or"
                  .formatted(reading.returns())
              + " expires on the locks' queues");
    }
  }
}
