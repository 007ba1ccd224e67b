package io.amqplocks.prover.check;

import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import java.util.List;

/**
 * A promise that was broken.
 *
 * @param promise which one
 * @param lock the lock
 * @param at when it showed, in nanoseconds of the monotonic clock
 * @param claims the leases that show it, and no others
 * @param text what happened, in a sentence
 */
public record Violation(Promise promise, LockRef lock, long at, List<Claim> claims, String text) {

  /** What is promised. */
  public enum Promise {
    /** No more slots are certainly held at any moment than there are, and none by two. */
    CAPACITY,
    /** Who certainly holds a write lock is the only holder of that read-write lock. */
    EXCLUSION,
    /** A lease is HELD for less than two heartbeats after the broker has confirmed it. */
    CERTAINTY,
    /** A fenced lease has a fencing token, and a later one has a higher token. */
    FENCING_ORDER,
    /**
     * A guarded row takes no write of a holder that was superseded, loses none that it took, and
     * refuses nobody who holds the lock.
     */
    GUARDED_ROW,
    /** A lease is lost only after something that may take it, as a fault. */
    LOSS,
    /** A lease notifies its holder of a loss, and of nothing else. */
    NOTIFICATION,
    /** What is free can be acquired, and who waits is served. */
    LIVENESS,
    /** Everything looks as if it had happened one after the other. */
    LINEARIZABILITY,
    /** A message that the broker has confirmed is handled in the end. */
    DELIVERY,
    /** By two ways, a consumer handles no message twice. */
    UNIQUENESS,
    /** A consumer begins no message while it is not the active one. */
    ACTIVITY
  }
}
