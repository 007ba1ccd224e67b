package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldSlot;
import org.jspecify.annotations.Nullable;

/**
 * What one who waits is to do next.
 *
 * @param slot the slot to take over
 * @param nanos how long to sleep at most
 */
record Step(Action action, @Nullable HeldSlot slot, long nanos) {

  static final Step TRY = new Step(Action.TRY, null, 0);
  static final Step GO = new Step(Action.GO, null, 0);

  /** What to do. */
  enum Action {
    /** Try at the broker, and say how that went. */
    TRY,
    /** Take over a slot. */
    TAKE_OVER,
    /** Wait to be signalled, but no longer than so. */
    SLEEP,
    /** Go: there is nothing to wait for any more. */
    GO
  }

  static Step takeOver(HeldSlot slot) {
    return new Step(Action.TAKE_OVER, slot, 0);
  }

  static Step sleep(long nanos) {
    return new Step(Action.SLEEP, null, nanos);
  }
}
