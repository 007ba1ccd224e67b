package io.amqplocks.internal.broker;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The queues that owe a reply for longer than a call waits. A request that nobody waits for any
 * more occupies its channel until its reply comes, and a queue can hang for hours. So a queue that
 * owes a reply is not asked again: otherwise those who try again and again would use up the
 * channels that all other locks need.
 *
 * <p>Concurrency: a queue is marked after its request timed out, and the mark is removed by
 * whatever ends that request. The result is right in either order of the two.
 */
public final class OverdueQueues {

  private final Set<String> queues = ConcurrentHashMap.newKeySet();

  /** Whether the queue owes a reply. */
  public boolean has(String queue) {
    return queues.contains(queue);
  }

  /**
   * Records that the queue owes a reply.
   *
   * @param reply completed when the request has ended, however it did
   */
  public void add(String queue, CompletableFuture<?> reply) {
    queues.add(queue);
    var unused = reply.whenComplete((came, failure) -> queues.remove(queue));
  }
}
