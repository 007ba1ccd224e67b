package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;
import java.util.Optional;

/** How a slot of a lock is acquired. This differs between the kinds of locks. */
@FunctionalInterface
public interface Claim {

  /** Acquires a slot if one is free, else returns empty. Does not wait for a holder. */
  Optional<HeldLease> attempt(Call call, Session session);

  /**
   * Attempts to acquire a slot on behalf of a caller that subscribes within the same call if there
   * is none. By default this is an ordinary attempt.
   */
  default Optional<HeldLease> attemptBeforeWaiting(Call call, Session session) {
    return attempt(call, session);
  }

  /**
   * Whether a subscription acquires a free slot as fast as an attempt, or an attempt is likely to
   * be in vain. If so, a caller that waits subscribes at once.
   */
  default boolean isAcquiredBySubscribing(LockId lock) {
    return false;
  }

  /**
   * Subscribes this client to the slots of the lock. The caller closes the subscription when it
   * does not wait any more. By default there are no notifications, and attempts are repeated after
   * jittered pauses.
   *
   * @param wake is called when an attempt is worthwhile, on any thread; must not block
   */
  default Subscription subscribe(Call call, Session session, Runnable wake) {
    return new PollingSubscription(this, session);
  }

  /**
   * How long a caller who is about to try, and would wait, should let others go first. It should if
   * this process just released a slot and notified one of them.
   */
  default long courtesyNanos(Session session) {
    return 0;
  }
}
