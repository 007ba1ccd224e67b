package io.amqplocks.internal.broker;

/**
 * The queues that are known to have a property. Finding that out again takes a round trip. So all
 * of them may be forgotten, as {@link BoundedMap} does.
 */
public final class QueueCache {

  private final BoundedMap<String, Boolean> queues = new BoundedMap<>();

  public boolean contains(String queue) {
    return queues.get(queue) != null;
  }

  public void add(String queue) {
    queues.put(queue, true);
  }

  public void remove(String queue) {
    queues.remove(queue);
  }
}
