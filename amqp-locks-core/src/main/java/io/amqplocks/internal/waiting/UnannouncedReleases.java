package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import java.time.Duration;

/**
 * Which locks became free lately though no notification said so, as far as this session has seen.
 * Their holders may be clients that know nothing of notifications. One such event proves little: a
 * holder may have died, or a waiter may have looked just before its notification arrived. Two in a
 * row, without a notified acquisition in between, count.
 *
 * <p>Concurrency: each entry is one immutable record, replaced atomically.
 */
final class UnannouncedReleases {

  private static final PerSession<UnannouncedReleases> SESSIONS =
      new PerSession<>(session -> new UnannouncedReleases());

  /** How long an unannounced release is remembered. */
  static final Duration MEMORY = Duration.ofSeconds(10);

  /** So many in a row show that holders do not notify. */
  private static final int ENOUGH = 2;

  private final BoundedMap<String, Seen> locks = new BoundedMap<>();

  /**
   * What was seen of a lock.
   *
   * @param inARow the unannounced releases since the last announced one
   * @param last when the last one was seen
   */
  private record Seen(int inARow, long last) {

    boolean isFresh(long now) {
      return now - last < MEMORY.toNanos();
    }

    int andOneMore(long now) {
      return isFresh(now) ? Math.min(ENOUGH, inARow + 1) : 1;
    }
  }

  /** What that session has seen. */
  static UnannouncedReleases of(Session session) {
    return SESSIONS.of(session);
  }

  /** The lock with that wake queue was acquired, and no notification had come. */
  void unannounced(String wakeQueue, long now) {
    locks.compute(
        wakeQueue, (same, last) -> new Seen(last == null ? 1 : last.andOneMore(now), now));
  }

  /** The lock with that wake queue was acquired after a notification of another process. */
  void announced(String wakeQueue) {
    locks.remove(wakeQueue);
  }

  /** Whether the lock may become free without a notification at any time. */
  boolean areExpected(String wakeQueue, long now) {
    Seen seen = locks.get(wakeQueue);
    return seen != null && seen.inARow >= ENOUGH && seen.isFresh(now);
  }
}
