package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import java.util.Optional;

/**
 * Those of a line who wait for a slot, from the moment that the broker knows that they do. For one thread at
 * a time.
 */
public interface Vigil extends AutoCloseable {

  /**
   * Takes a slot if there is one for us.
   *
   * @throws io.amqplocks.lock.LockException as a claim's attempt does; the vigil is then of no more use
   */
  Optional<HeldLease> attempt(Call call);

  /** Whether it is of no more use, and another must be kept if there is no lease yet. */
  default boolean isOver() {
    return false;
  }

  /** How long to wait at most to be woken before the next attempt. */
  long pauseNanos();

  /** Nobody waits any more: undoes all that was done to be told. Never throws. */
  @Override
  void close();
}
