package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Wakeup;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waiting to be told by whoever gives a slot back. A holder that died tells nobody, so now and then it
 * looks for itself, at random moments, lest all processes do so at once.
 */
final class WakeVigil implements Vigil {

  private static final long SHORTEST = Duration.ofMillis(500).toNanos();
  private static final long LONGEST = Duration.ofMillis(1500).toNanos();

  private final Claim claim;
  private final Session session;
  private final Wakeup wakeup;

  WakeVigil(Claim claim, Session session, Wakeup wakeup) {
    this.claim = claim;
    this.session = session;
    this.wakeup = wakeup;
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    return wakeup.use() ? claim.attemptWhenTold(call, session) : claim.attempt(call, session);
  }

  @Override
  public boolean isOver() {
    return wakeup.isGone();
  }

  @Override
  public long pauseNanos() {
    return ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
  }

  @Override
  public void close() {
    wakeup.close();
  }
}
