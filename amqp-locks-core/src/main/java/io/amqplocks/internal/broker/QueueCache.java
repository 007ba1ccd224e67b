package io.amqplocks.internal.broker;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A cache of queues that are known to have a property. Finding that out again takes a round trip,
 * so all entries may be dropped when there are too many.
 */
public final class QueueCache {

  private static final int MOST = 10_000;

  private final Set<String> queues = ConcurrentHashMap.newKeySet();

  public boolean contains(String queue) {
    return queues.contains(queue);
  }

  public void add(String queue) {
    if (queues.size() >= MOST) {
      queues.clear();
    }
    queues.add(queue);
  }

  public void remove(String queue) {
    queues.remove(queue);
  }
}
