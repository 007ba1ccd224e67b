package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.lock.LockException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Turns of the threads of this process at the counters. A counter has one message, so two draws at
 * once cannot both succeed: the second one would find the counter empty, pause, and ask again. And
 * the threads that find a new counter missing would all try to create it.
 *
 * <p>Concurrency: turns save requests, and nothing relies on them: other processes take no part,
 * and a caller whose bound ends leaves. A turn is handed on in the order of arrival. Each counter
 * has turns of its own, so a counter that hangs delays no other. The entry of a counter is in the
 * map while somebody has its turn or waits for it; the map's atomic {@code compute} counts those.
 */
final class DrawTurns {

  private final Map<FenceCounter, Turn> turns = new ConcurrentHashMap<>();

  /** The turn at one counter. The number of users is read and written within the map only. */
  private static final class Turn {
    final Semaphore free = new Semaphore(1, true);
    int users;
  }

  /**
   * Draws when it is this caller's turn.
   *
   * @throws LockException.Unanswered if the call's bound ends first; that is no outage, for the
   *     thread that has the turn may wait for others, and says so if the broker does not answer
   */
  <T> T inTurn(Call call, FenceCounter counter, Supplier<T> draw) {
    Turn turn = join(counter);
    try {
      if (!Futures.acquire(turn.free, call)) {
        throw LockException.Unanswered.contended(
            "No fencing token of %s could be drawn within %d ms, after other threads of this process, from %s. Try again"
                .formatted(call.lock(), call.bound().toMillis(), counter));
      }
      try {
        return draw.get();
      } finally {
        turn.free.release();
      }
    } finally {
      leave(counter);
    }
  }

  private Turn join(FenceCounter counter) {
    return turns.compute(
        counter,
        (same, there) -> {
          Turn turn = there == null ? new Turn() : there;
          turn.users++;
          return turn;
        });
  }

  private void leave(FenceCounter counter) {
    turns.computeIfPresent(counter, (same, turn) -> --turn.users == 0 ? null : turn);
  }

  /** How many counters have somebody. */
  int size() {
    return turns.size();
  }
}
