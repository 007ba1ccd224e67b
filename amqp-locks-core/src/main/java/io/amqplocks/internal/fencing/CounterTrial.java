package io.amqplocks.internal.fencing;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.CounterReading;
import io.amqplocks.internal.session.CounterReading.Outcome;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import java.util.UUID;
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

  /** Makes a queue for the call's lock, reads its message many times, and deletes it. */
  public static void run(Call call, CounterKeeper keeper, QueueNames names) {
    String queue = names.counterTrial(call.lock(), UUID.randomUUID().toString().substring(0, 8));
    try {
      keeper.make(call, queue, "trial");
      for (int i = 0; i < READINGS; i++) {
        require(call, keeper.read(call, queue), i);
      }
    } finally {
      discard(call, keeper, queue);
    }
  }

  private static void discard(Call call, CounterKeeper keeper, String queue) {
    try {
      keeper.delete(call, queue);
    } catch (LockException e) {
      log.warn("Queue {} stays behind and can be deleted: {}", queue, e.getMessage());
    }
  }

  static void require(Call call, CounterReading reading, long returns) {
    if (reading.outcome() != Outcome.READ || reading.returns() != returns || reading.others() > 0) {
      throw new LockException.FenceUnavailable(
          "There are no fencing tokens of %s: a quorum queue's message that was read %d times is %s, with"
                  .formatted(call.lock(), returns, reading.outcome())
              + " %d returns counted; see that no policy sets delivery-limit, message-ttl, max-length or"
                  .formatted(reading.returns())
              + " expires on the locks' queues");
    }
  }
}
