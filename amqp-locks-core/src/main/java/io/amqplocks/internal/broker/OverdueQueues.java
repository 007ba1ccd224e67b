package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The queues that owe a reply for longer than a call waits. A request that nobody waits for any
 * more occupies its channel until its reply comes, and a queue can hang for hours. So a queue that
 * owes replies is not asked again: otherwise those who try again and again would use up the
 * channels that all other locks need.
 *
 * <p>Concurrency: a reply is counted after its request timed out, and is not counted any more after
 * whatever ends that request. The result is right in either order of the two.
 */
public final class OverdueQueues {

  /**
   * How many replies to gets and consumes one queue may owe. Such a request can hang on its channel
   * for half a minute because the leader of a quorum queue has gone, while others find the new one.
   */
  static final int MOST_GETS = 4;

  private final ConcurrentHashMap<String, Integer> owed = new ConcurrentHashMap<>();

  /** Whether the queue owes so many replies. */
  public boolean owes(String queue, int replies) {
    return owed.getOrDefault(queue, 0) >= replies;
  }

  /**
   * Records that the queue owes a reply.
   *
   * @param reply completed when the request has ended, however it did
   */
  public void add(String queue, CompletableFuture<?> reply) {
    owed.merge(queue, 1, Integer::sum);
    var unused =
        reply.whenComplete(
            (came, failure) -> owed.computeIfPresent(queue, (q, n) -> n == 1 ? null : n - 1));
  }

  /** The error for a request that is one too many. */
  static LockException.Unanswered refused(Call call, String step, String queue) {
    return new LockException.Unanswered(
        "RabbitMQ has not answered earlier requests about queue %s yet, so it is not asked to %s for %s"
            .formatted(queue, step, call.purpose()));
  }
}
