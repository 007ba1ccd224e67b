package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Waits without the broker's knowledge: attempts are repeated, after pauses that grow. */
final class PollingSubscription implements Subscription {

  private final Claim claim;
  private final Session session;
  private final Backoff backoff = new Backoff();
  private final @Nullable Long end;
  private boolean begun;
  private boolean over;

  /** Waits for as long as anybody wants to. */
  PollingSubscription(Claim claim, Session session) {
    this(claim, session, null);
  }

  /**
   * Waits until then.
   *
   * @param end when another subscription is tried, by the ticker of the calls
   */
  PollingSubscription(Claim claim, Session session, @Nullable Long end) {
    this.claim = claim;
    this.session = session;
    this.end = end;
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
    over = end != null && call.ticker().nanos() - end > 0;
    return claim.attempt(call, session);
  }

  @Override
  public boolean isOver() {
    return over;
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
