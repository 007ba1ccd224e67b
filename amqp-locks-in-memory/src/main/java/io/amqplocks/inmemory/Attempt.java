package io.amqplocks.inmemory;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One call for a lock. It reports how the call ends. One of its methods is called, once. */
final class Attempt {

  private final LockId lock;
  private final LockTable table;
  private final Notices.Attempts observers;
  private final long start;

  /** Begins the call, on the caller's thread. */
  Attempt(LockId lock, LockTable table) {
    this.lock = lock;
    this.table = table;
    observers = table.notices().begin(lock);
    start = table.time().nanos();
  }

  void acquired(InMemoryLease lease) {
    lease.events().acquired(waited(), observers);
  }

  void missed(LockException failure) {
    missed(
        failure instanceof LockException.AcquireTimeout ? Outcome.TIMEOUT : Outcome.ERROR, failure);
  }

  void missed(Outcome outcome, @Nullable Throwable failure) {
    Duration waited = waited();
    if (failure instanceof LockException exception) {
      exception.initLock(lock);
    }
    observers.notAcquired(attempt -> attempt.notAcquired(outcome, failure));
    table.notices().post(listener -> listener.notAcquired(lock, outcome, waited));
  }

  private Duration waited() {
    return Duration.ofNanos(table.time().nanos() - start);
  }
}
