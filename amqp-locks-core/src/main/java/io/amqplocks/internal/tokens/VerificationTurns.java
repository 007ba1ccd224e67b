package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The order of the verifications in one session. Those of one queue run at the same time, unless
 * one of them takes a token over that no other one can stand for. That one runs alone. Otherwise
 * what another verification gives back could go to its new consumer, just when it gives back its
 * own message. Then that one goes to the other verification, and is lost.
 *
 * <p>Concurrency: a fair read-write lock for each queue. It is in the map as long as somebody has
 * it or waits for it, so a queue that hangs keeps no other one.
 */
final class VerificationTurns {

  private final ConcurrentMap<String, Turns> turns = new ConcurrentHashMap<>();

  /** Those of one queue, and how many threads use them. */
  private record Turns(ReadWriteLock lock, int users) {
    Turns with(int more) {
      return new Turns(lock, users + more);
    }

    Lock lock(boolean alone) {
      return alone ? lock.writeLock() : lock.readLock();
    }
  }

  /**
   * Waits for a turn.
   *
   * @param alone whether nobody else may have a turn meanwhile
   * @return false if there was none before the end of the call; else this thread calls {@link #end}
   */
  boolean begin(Call call, String queue, boolean alone) {
    Turns mine =
        Objects.requireNonNull(
            turns.compute(
                queue,
                (key, now) ->
                    now == null ? new Turns(new ReentrantReadWriteLock(true), 1) : now.with(1)));
    boolean begun = false;
    try {
      begun = Futures.lock(mine.lock(alone), call);
      return begun;
    } finally {
      if (!begun) {
        leave(queue);
      }
    }
  }

  /** Ends the turn that this thread has. */
  void end(String queue, boolean alone) {
    Objects.requireNonNull(turns.get(queue)).lock(alone).unlock();
    leave(queue);
  }

  private void leave(String queue) {
    turns.computeIfPresent(queue, (key, now) -> now.users() == 1 ? null : now.with(-1));
  }
}
