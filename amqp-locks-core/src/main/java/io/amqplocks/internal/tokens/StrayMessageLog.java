package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Ticker;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of messages that somebody else published to a token queue, and which were removed. A
 * publisher that goes on must not fill the log: there is one line a minute for each queue, with the
 * number of messages since the line before.
 */
final class StrayMessageLog {

  /** Of this process. */
  static final StrayMessageLog SHARED = new StrayMessageLog(Ticker.SYSTEM);

  /** Keys make queues, and only some of them have strays. */
  private static final int MOST_QUEUES = 256;

  private static final long QUIET_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Logger log = LoggerFactory.getLogger(StrayMessageLog.class);

  private final Ticker ticker;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Removed> queues = new LinkedHashMap<>();

  private static final class Removed {
    long loggedNanos;
    long since;
  }

  StrayMessageLog(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Any thread: a message was removed from that queue. */
  void removed(String queue) {
    long count = toLog(queue);
    if (count > 0) {
      log.warn(
          "{} message(s) in queue {} were no tokens and were removed. Somebody publishes there, and"
              + " only the locks' own users should have the permission to",
          count,
          queue);
    }
  }

  /** How many messages a line about this one stands for; 0 if there is to be none yet. */
  long toLog(String queue) {
    lock.lock();
    try {
      return toLog(queue, ticker.nanos());
    } finally {
      lock.unlock();
    }
  }

  private long toLog(String queue, long now) {
    Removed removed = queues.get(queue);
    if (removed == null) {
      removed = new Removed();
      removed.loggedNanos = now - QUIET_NANOS;
      if (queues.size() == MOST_QUEUES) {
        queues.remove(queues.keySet().iterator().next());
      }
      queues.put(queue, removed);
    }
    removed.since++;
    if (now - removed.loggedNanos < QUIET_NANOS) {
      return 0;
    }
    long result = removed.since;
    removed.since = 0;
    removed.loggedNanos = now;
    return result;
  }
}
