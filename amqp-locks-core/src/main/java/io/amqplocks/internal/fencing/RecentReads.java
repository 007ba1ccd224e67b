package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.FenceCounter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which shared counters this process has read lately. Such a counter had its message a moment ago.
 * If it is empty now, others are drawing from it for other keys, most likely. A message that was
 * lost is not read again, so that is known after a minute.
 *
 * <p>Concurrency: one map, whose entries are independent of each other. It is harmless to forget
 * all of them when there are too many.
 */
final class RecentReads {

  /** Longer than the broker keeps the message of a client that died in the middle of a draw. */
  static final Duration LATELY = Duration.ofMinutes(1);

  private static final int MOST = 10_000;

  private final Map<FenceCounter, Long> last = new ConcurrentHashMap<>();

  /** The counter was read. */
  void add(FenceCounter counter, long now) {
    if (!counter.shared()) {
      return;
    }
    if (last.size() >= MOST && !last.containsKey(counter)) {
      last.clear();
    }
    last.put(counter, now);
  }

  /** Whether it is shared, and was read lately. */
  boolean has(FenceCounter counter, long now) {
    Long then = last.get(counter);
    return then != null && now - then < LATELY.toNanos();
  }
}
