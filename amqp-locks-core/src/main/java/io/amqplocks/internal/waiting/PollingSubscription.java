package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/** Waits without the broker's knowledge: attempts are repeated, after pauses that grow. */
final class PollingSubscription implements Subscription {

  private final Claim claim;
  private final Session session;
  private final Backoff backoff = new Backoff();
  private boolean begun;
  private long left;

  PollingSubscription(Claim claim, Session session) {
    this(claim, session, Long.MAX_VALUE);
  }

  /**
   * Waits for that many attempts.
   *
   * @param most after how many attempts another subscription is tried
   */
  PollingSubscription(Claim claim, Session session, long most) {
    this.claim = claim;
    this.session = session;
    left = most;
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    if (!begun) {
      // There was no request to subscribe, so nothing can have changed since the attempt before.
      begun = true;
      return Optional.empty();
    }
    left--;
    return claim.attempt(call, session);
  }

  @Override
  public boolean isOver() {
    return left <= 0;
  }

  @Override
  public long pauseNanos() {
    return backoff.next();
  }

  @Override
  public void close() {
    // The broker knows nothing of the waiting.
  }
}
