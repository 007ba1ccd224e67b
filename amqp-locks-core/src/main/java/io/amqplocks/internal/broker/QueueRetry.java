package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats steps on a queue that expires between two of them. While RabbitMQ deletes a queue, it may
 * reply that the queue's node is down. A deletion takes no time, and a node that is down stays
 * down, so three tries tell the two apart.
 */
public final class QueueRetry {

  /** An expiry costs one try. More than two mean that somebody deletes the queue. */
  private static final int TRIES = 3;

  private static final long DELETION = Duration.ofMillis(50).toNanos();

  private QueueRetry() {}

  /**
   * The result of the first try that found the queue.
   *
   * @param forget is called after each try that did not; the next one declares the queue
   * @param steps return null if there is no such queue
   * @throws LockException.Unanswered if no try found it
   */
  public static <T> T of(Call call, String queue, Runnable forget, Supplier<@Nullable T> steps) {
    LockException.Unexpected last = null;
    for (int i = 0; i < TRIES; i++) {
      LockException.Unexpected unavailable = null;
      try {
        T result = steps.get();
        if (result != null) {
          return result;
        }
      } catch (LockException.Unexpected e) {
        if (!BrokerErrors.isQueueUnavailable(e)) {
          throw e;
        }
        unavailable = e;
      }
      forget.run();
      if (unavailable != null) {
        last = unavailable;
        Futures.pause(Math.min(DELETION, call.remainingNanos()));
      }
    }
    LockException failure =
        new LockException.Unanswered(
            "The queue %s of %s cannot be used: %s"
                .formatted(
                    queue,
                    call.lock(),
                    last == null
                        ? "it was deleted %d times meanwhile; see who deletes it".formatted(TRIES)
                        : last.getMessage()));
    if (last != null) {
      failure.addSuppressed(last);
    }
    throw failure;
  }
}
