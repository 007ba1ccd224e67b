package io.amqplocks.internal.session;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Queues of which something was found out once. To find it out again takes a round trip, so it does no
 * harm to forget all of it when there are too many.
 */
final class KnownQueues {

  private static final int MOST = 10_000;

  private final Set<String> queues = ConcurrentHashMap.newKeySet();

  boolean contains(String queue) {
    return queues.contains(queue);
  }

  void add(String queue) {
    if (queues.size() >= MOST) {
      queues.clear();
    }
    queues.add(queue);
  }

  void remove(String queue) {
    queues.remove(queue);
  }
}
