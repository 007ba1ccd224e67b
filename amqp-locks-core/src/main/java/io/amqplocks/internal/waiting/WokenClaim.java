package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim on a lock whose holders say when they give it back.
 *
 * @param claim the claim
 * @param wakeQueue where they say so
 * @param holders which queues stand for a holder of the lock
 */
public record WokenClaim(Claim claim, String wakeQueue, Predicate<String> holders)
    implements Claim {

  /** For word to get to one who waits, and its request to the broker. */
  private static final long COURTESY = Duration.ofMillis(3).toNanos();

  private static final Logger log = LoggerFactory.getLogger(WokenClaim.class);

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    return claim.attempt(call, session);
  }

  @Override
  public Vigil keepVigil(Call call, Session session, Runnable wake) {
    try {
      return new WakeVigil(
          claim, session, session.wakes().listen(call.half(), wakeQueue, holders, wake));
    } catch (LockException.Unexpected | LockException.Unanswered | LockException.Conflict e) {
      // Its node may be down, while the lock itself is well; then it is polled as if nobody told.
      log.warn("{} is waited for without being told: {}", call.lock(), e.getMessage());
      return new PollingVigil(claim, session);
    }
  }

  @Override
  public long courtesyNanos(Session session) {
    return session.wakes().isHeard(wakeQueue) ? COURTESY : 0;
  }
}
