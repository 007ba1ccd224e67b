package io.amqplocks.inmemory;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One call for a lock. It ends once: acquired or missed. It reports how. */
final class Attempt {

  private final LockId lock;
  private final LockTable table;
  private final Notices.Attempts observers;
  private final Duration patience;
  private final long start;

  /** Begins a call that waits for that time at most, on the caller's thread. */
  Attempt(LockId lock, LockTable table, Duration patience) {
    this.lock = lock;
    this.table = table;
    this.patience = patience;
    observers = table.notices().begin(lock);
    start = table.time().nanos();
  }

  void acquired(InMemoryLease lease) {
    lease.events().acquired(waited(lease.acquiredAt()), observers);
  }

  void missed(Throwable failure) {
    if (!(failure instanceof LockException.AcquireTimeout timeout)) {
      missed(Outcome.ERROR, failure);
    } else if (patience.isZero()) {
      timeout.initLock(lock);
      missed(Outcome.BUSY, null);
    } else {
      missed(Outcome.TIMEOUT, failure);
    }
  }

  void missed(Outcome outcome, @Nullable Throwable failure) {
    Duration waited = waited(table.time().nanos());
    if (failure instanceof LockException exception) {
      exception.initLock(lock);
    }
    observers.notAcquired(attempt -> attempt.notAcquired(outcome, failure));
    table.notices().post(listener -> listener.notAcquired(lock, outcome, waited));
  }

  /** The call ended when its time was over, also if the clock has jumped beyond that. */
  private Duration waited(long end) {
    Duration waited = Duration.ofNanos(end - start);
    return waited.compareTo(patience) > 0 ? patience : waited;
  }
}
