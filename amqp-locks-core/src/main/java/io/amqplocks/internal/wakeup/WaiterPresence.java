package io.amqplocks.internal.wakeup;

import io.amqplocks.internal.broker.BoundedMap;

/**
 * Whether anybody receives the notifications of a wake queue. A queue with waiters, now or a moment
 * ago, exists. A notification for a queue that does not exist is returned. The return takes a round
 * trip, and nobody waits for it. So when a notification is published, the outcome of the previous
 * one is known.
 *
 * <p>Concurrency: each entry is one immutable record, replaced atomically.
 */
final class WaiterPresence {

  private final BoundedMap<String, Notification> latest = new BoundedMap<>();

  /**
   * The last two notifications of a queue.
   *
   * @param heardBefore whether the notification before the last one was not returned
   * @param cameBack whether the last one was returned
   */
  private record Notification(boolean heardBefore, boolean cameBack) {}

  void notified(String queue) {
    latest.compute(queue, (same, last) -> new Notification(last != null && !last.cameBack, false));
  }

  void returned(String queue) {
    latest.computeIfPresent(queue, (same, last) -> new Notification(last.heardBefore, true));
  }

  /** Whether somebody waits for notifications of that queue, as far as that can be known. */
  boolean isHeard(String queue) {
    Notification last = latest.get(queue);
    return last != null && last.heardBefore && !last.cameBack;
  }
}
