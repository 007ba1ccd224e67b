package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/** Waiting unknown to the broker: asks again and again, after pauses that grow. */
final class PollingVigil implements Vigil {

  private final Claim claim;
  private final Session session;
  private final Backoff backoff = new Backoff();
  private boolean begun;

  PollingVigil(Claim claim, Session session) {
    this.claim = claim;
    this.session = session;
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    if (!begun) {
      // Nobody was told, so there is nothing that could have changed since the attempt before it.
      begun = true;
      return Optional.empty();
    }
    return claim.attempt(call, session);
  }

  @Override
  public long pauseNanos() {
    return backoff.next();
  }

  @Override
  public void close() {
    // Nobody was told.
  }
}
