package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.lock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * The next step of a waiter.
 *
 * @param slot the slot to take over
 * @param nanos how long to sleep at most
 * @param outage what another waiter has met, for one that does not wait until it is over
 */
record Step(Action action, @Nullable BrokerGrant slot, long nanos, @Nullable LockException outage) {

  static final Step TRY = new Step(Action.TRY, null, 0, null);
  static final Step CLOSED = new Step(Action.CLOSED, null, 0, null);

  /** The kinds of steps. */
  enum Action {
    /** Make an attempt at the broker, and report its result. */
    TRY,
    /** Take over a slot. */
    TAKE_OVER,
    /** Wait for a signal, for a limited time. */
    SLEEP,
    /** Leave: there is an outage. */
    FAIL,
    /** Leave: there is nothing to wait for any more. */
    CLOSED
  }

  static Step takeOver(BrokerGrant slot) {
    return new Step(Action.TAKE_OVER, slot, 0, null);
  }

  static Step sleep(long nanos) {
    return new Step(Action.SLEEP, null, nanos, null);
  }

  static Step fail(LockException outage) {
    return new Step(Action.FAIL, null, 0, outage);
  }
}
