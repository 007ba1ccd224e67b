package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.lock.LockKind;
import java.time.Duration;

/**
 * Which counters this process has read lately, of those from which several holders may draw at the
 * same time: for other keys, or for other readers. Such a counter had its message a moment ago. If
 * it is empty now, others are drawing from it, most likely. A message that was lost is not read
 * again, so that is known after a minute.
 *
 * <p>Concurrency: one map, whose entries are independent of each other. It is harmless to forget
 * all of them.
 */
final class RecentReads {

  /** Longer than the broker keeps the message of a client that died in the middle of a draw. */
  static final Duration LATELY = Duration.ofMinutes(1);

  private final BoundedMap<FenceCounter, Long> last = new BoundedMap<>();

  /** The counter was read. */
  void add(FenceCounter counter, long now) {
    if (counter.shared() || counter.kind() == LockKind.WRITE_LOCK) {
      last.put(counter, now);
    }
  }

  /** Whether others may be drawing from it, and it was read lately. */
  boolean has(FenceCounter counter, long now) {
    Long then = last.get(counter);
    return then != null && now - then < LATELY.toNanos();
  }
}
