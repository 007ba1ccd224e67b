package io.amqplocks.internal.fencing;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.CounterReading;
import io.amqplocks.internal.session.CounterReading.Outcome;
import io.amqplocks.lock.LockException;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries out whether a message of a quorum queue comes back for ever, and is counted. A policy that drops
 * it early, or a broker that does not count, shows here.
 */
public final class CounterTrial {

  private static final Logger log = LoggerFactory.getLogger(CounterTrial.class);

  /** More than RabbitMQ's own limit of 20 returns from 4.0 on. */
  private static final int READINGS = 25;

  private CounterTrial() {}

  /**
   * Makes a queue, reads its message many times, and deletes it.
   *
   * @param calls gives the call for each step
   * @param name the queue's name with that random ending
   */
  public static void run(Supplier<Call> calls, CounterKeeper keeper, UnaryOperator<String> name) {
    String queue = name.apply(random());
    try {
      keeper.make(calls.get(), queue, "trial");
      for (int i = 0; i < READINGS; i++) {
        Call call = calls.get();
        require(call, queue, keeper.read(call, queue), i);
      }
    } finally {
      discard(calls.get(), keeper, queue);
    }
  }

  /** Makes names differ. */
  public static String random() {
    return UUID.randomUUID().toString().substring(0, 8);
  }

  private static void discard(Call call, CounterKeeper keeper, String queue) {
    try {
      keeper.delete(call, queue);
    } catch (LockException e) {
      log.warn("Queue {} stays behind and can be deleted: {}", queue, e.getMessage());
    }
  }

  static void require(Call call, String queue, CounterReading reading, long returns) {
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
