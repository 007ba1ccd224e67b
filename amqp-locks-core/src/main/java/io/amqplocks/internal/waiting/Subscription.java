package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/**
 * The subscription of a wait queue to the slots of its lock. It lasts from the moment when the
 * broker knows of the waiters.
 *
 * <p>Concurrency: for one thread at a time.
 */
public interface Subscription extends AutoCloseable {

  /**
   * Acquires a slot if there is one for this client.
   *
   * @throws LockException as a claim's attempt does; the subscription is then of
   *     no more use
   */
  Optional<HeldLease> attempt(Call call);

  /**
   * Why the last attempt could not tell whether there is a slot, although the subscription is still
   * of use. Empty if it could.
   */
  default Optional<LockException> failure() {
    return Optional.empty();
  }

  /**
   * Whether the subscription is of no more use. If there is no lease yet, another one is then
   * needed.
   */
  default boolean isOver() {
    return false;
  }

  /** The longest time to wait for a notification before the next attempt. */
  long pauseNanos();

  /** Ends the waiting, and undoes the subscription at the broker. Never throws. */
  @Override
  void close();
}
