package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.wakeup.WakeQueues;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim on a lock whose holders notify waiters of a release.
 *
 * @param claim the claim without notifications
 * @param wakeQueue the queue of the notifications
 * @param holders which queues belong to a holder of the lock
 */
public record NotifiedClaim(Claim claim, String wakeQueue, Predicate<String> holders)
    implements Claim {

  /**
   * The time for a notification to reach a waiter, and for the waiter's request to reach the
   * broker.
   */
  private static final long COURTESY = Duration.ofMillis(3).toNanos();

  /** The wake queue is tried again after that. In a minority, a try may end its connection. */
  private static final long UNTOLD = Duration.ofMinutes(1).toNanos();

  private static final Logger log = LoggerFactory.getLogger(NotifiedClaim.class);

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    return claim.attempt(call, session);
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    try {
      return new NotifiedSubscription(
          claim,
          session,
          wakeQueue,
          WakeQueues.of(session).listen(call.half(), wakeQueue, holders, wake));
    } catch (LockException.Unexpected
        | LockException.Unanswered
        | LockException.Unreachable
        | LockException.Conflict e) {
      if (!session.isOpen()) {
        throw e;
      }
      // The node of the wake queue may be down while the lock itself works. The lock is then
      // polled, until the queue is tried again.
      log.warn("{} is waited for without being told: {}", call.lock(), e.getMessage());
      return new PollingSubscription(claim, session, call.ticker().nanos() + UNTOLD);
    }
  }

  @Override
  public long courtesyNanos(Session session) {
    return WakeQueues.of(session).isHeard(wakeQueue) ? COURTESY : 0;
  }
}
