package io.amqplocks.internal.waiting;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The lines of all locks that anybody waits for. A line exists while somebody stands in it, so locks
 * with ever new names leave nothing behind.
 *
 * <p>Concurrency: joining and leaving a line happen within the map's atomic update of its key, so no
 * line is dropped that somebody has just joined.
 */
public final class WaitingLines {

  private final ConcurrentMap<Object, Queue> lines = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();

  private record Queue(WaitingLine line, int length) {}

  /** A place in a line. */
  record Ticket(Object key, WaitingLine line, WaitingLine.Place place) {}

  Ticket join(Object key) {
    waiting.incrementAndGet();
    WaitingLine.Place[] place = new WaitingLine.Place[1];
    Queue queue =
        lines.compute(
            key,
            (same, found) -> {
              Queue joined =
                  found == null
                      ? new Queue(new WaitingLine(), 1)
                      : new Queue(found.line(), found.length() + 1);
              place[0] = joined.line().join();
              return joined;
            });
    return new Ticket(key, queue.line(), place[0]);
  }

  void leave(Ticket ticket) {
    ticket.line().leave(ticket.place());
    lines.computeIfPresent(ticket.key(), WaitingLines::shorter);
    waiting.decrementAndGet();
  }

  private static @Nullable Queue shorter(Object key, Queue queue) {
    return queue.length() == 1 ? null : new Queue(queue.line(), queue.length() - 1);
  }

  /** Whether anybody waits for that lock. */
  boolean isEmpty(Object key) {
    return !lines.containsKey(key);
  }

  /** A slot of that lock may have come free. */
  public void released(Object key) {
    Queue queue = lines.get(key);
    if (queue != null) {
      queue.line().released();
    }
  }

  /** Wakes the heads of all lines, so that they find that all is closed. */
  public void releaseAll() {
    lines.values().forEach(queue -> queue.line().released());
  }

  /** How many calls wait. */
  public int waiting() {
    return waiting.get();
  }
}
