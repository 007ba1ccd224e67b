package io.amqplocks.internal.waiting;

import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a call waits still, and what it says when it stops. A broken connection is waited out like
 * a busy lock if it ever worked; the last thing seen decides what is thrown.
 */
final class Patience {

  /** As good as for ever, and small enough for the arithmetic. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final LockId lock;
  private final Duration wait;
  private final Ticker ticker;
  private final long end;
  private @Nullable LockException lastFailure;

  Patience(LockId lock, Duration wait, Ticker ticker) {
    this.lock = lock;
    this.wait = wait;
    this.ticker = ticker;
    end = ticker.nanos() + (wait.compareTo(LONGEST) > 0 ? LONGEST : wait).toNanos();
  }

  long remaining() {
    return end - ticker.nanos();
  }

  /** The last attempt found all slots held. */
  void busy() {
    lastFailure = null;
  }

  /** The last attempt found something broken; throws it if waiting would only hide it. */
  void broken(LockException failure, boolean mayHeal) {
    if (!mayHeal) {
      throw failure;
    }
    lastFailure = failure;
  }

  /** What to throw when the time is over. */
  LockException end() {
    return lastFailure != null
        ? lastFailure
        : new LockException.AcquireTimeout(
            "No slot of %s came free within %s (the time that this call would wait)"
                .formatted(lock, wait));
  }
}
