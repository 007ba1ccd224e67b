package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.Ticker;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of messages that somebody else published to a token queue, and which were removed. A
 * publisher that goes on must not fill the log: there is one line a minute for each queue, with the
 * number of messages since the line before.
 *
 * <p>Concurrency: each entry is one immutable record, replaced atomically. One that is forgotten
 * costs a line too many.
 */
final class StrayMessageLog {

  /** Of this process. */
  static final StrayMessageLog SHARED = new StrayMessageLog(Ticker.SYSTEM);

  private static final long QUIET_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Logger log = LoggerFactory.getLogger(StrayMessageLog.class);

  private final Ticker ticker;
  private final BoundedMap<String, Removed> queues = new BoundedMap<>();

  /**
   * What was removed from a queue.
   *
   * @param loggedNanos when the last line was written
   * @param since how many messages have been removed since then
   * @param toLog how many messages a line about the last one stands for; 0 if there is none
   */
  private record Removed(long loggedNanos, long since, long toLog) {

    static Removed oneMore(@Nullable Removed before, long now) {
      if (before == null) {
        return new Removed(now, 0, 1);
      }
      return now - before.loggedNanos < QUIET_NANOS
          ? new Removed(before.loggedNanos, before.since + 1, 0)
          : new Removed(now, 0, before.since + 1);
    }
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
    long now = ticker.nanos();
    return queues.compute(queue, (same, before) -> Removed.oneMore(before, now)).toLog;
  }
}
