package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver.Attempt;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One call of a user for a lock. It reports how the call ends. One of its methods is called, once.
 *
 * @param lock the lock
 * @param context what all locks have in common
 * @param attempt follows the call
 * @param start when the call began
 * @param holdAtMost how long its lease may be held; null for as long as it lasts
 */
record AcquireAttempt(
    LockId lock, Context context, Attempt attempt, long start, @Nullable Duration holdAtMost) {

  void acquired(HeldLease lease) {
    if (holdAtMost != null) {
      lease.holdAtMost(holdAtMost, context.timer());
    }
    lease.announce(waited(), attempt);
  }

  void missed(Outcome outcome, @Nullable Throwable failure) {
    Duration waited = waited();
    if (failure instanceof LockException exception) {
      exception.initLock(lock);
    }
    attempt.notAcquired(outcome, failure);
    context.notices().post(listener -> listener.notAcquired(lock, outcome, waited));
  }

  private Duration waited() {
    return Duration.ofNanos(context.ticker().nanos() - start);
  }
}
