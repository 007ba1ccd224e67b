package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.wakeup.WakeSubscription;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waits to be notified of a release. A holder that died notifies nobody, so attempts are also made
 * now and then. Their times are random, so that processes do not make them all at once.
 */
final class NotifiedSubscription implements Subscription {

  private static final long SHORTEST = Duration.ofMillis(500).toNanos();
  private static final long LONGEST = Duration.ofMillis(1500).toNanos();

  private final Claim claim;
  private final Session session;
  private final WakeSubscription wakeup;

  NotifiedSubscription(Claim claim, Session session, WakeSubscription wakeup) {
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
