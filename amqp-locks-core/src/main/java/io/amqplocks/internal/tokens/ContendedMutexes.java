package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;

/**
 * The fenced mutexes that were busy when this process wanted them last. Whoever wants such a mutex,
 * and may wait, consumes at once. A get before that is likely to return nothing, and costs a round
 * trip and an entry in the queue's log. If the token is idle after all, it is sent to the consumer
 * at once, and costs more than one that was taken by a get: a change of threads, and a cancel.
 *
 * <p>Token semaphores are not remembered. One of several tokens is idle more often, and then the
 * get saves the cancel (ADR 86).
 *
 * <p>Concurrency: what is remembered is a guess that affects costs only. It may be outdated or
 * forgotten at any time.
 */
public final class ContendedMutexes {

  /** A wait that is shorter is none: the token was idle. */
  private static final long NO_TIME = Duration.ofNanos(500_000).toNanos();

  private final BoundedMap<LockId, Boolean> locks = new BoundedMap<>();

  /** Whether the lock is a fenced mutex that was busy. */
  boolean has(LockId lock) {
    return locks.get(lock) != null;
  }

  /** Remembers whether the lock was busy, if it is a fenced mutex. */
  void remember(LockId lock, boolean busy) {
    if (lock.kind() != LockKind.FENCED_MUTEX) {
      return;
    }
    if (busy) {
      locks.put(lock, true);
    } else {
      locks.remove(lock);
    }
  }

  /** A wait that is about to begin. */
  Wait prepare(Call call) {
    return new Wait(call.lock(), call.ticker());
  }

  /** A wait for a token, as a consumer. */
  final class Wait {

    private final LockId lock;
    private final Ticker ticker;
    private volatile long began;
    private volatile long came;
    private volatile boolean hasCome;

    private Wait(LockId lock, Ticker ticker) {
      this.lock = lock;
      this.ticker = ticker;
    }

    /** The broker has confirmed the consumer. A token may have come before that. */
    void begin() {
      began = ticker.nanos();
    }

    /** The token has come, or never will. Called by any thread. */
    void come() {
      came = ticker.nanos();
      hasCome = true;
    }

    /** The token is ours. */
    void served() {
      remember(lock, (hasCome ? came : ticker.nanos()) - began >= NO_TIME);
    }

    /**
     * The wait was in vain. The next one asks first: a get that was sent in time is answered even
     * if the caller's time is over by then.
     */
    void failed() {
      remember(lock, false);
    }
  }
}
