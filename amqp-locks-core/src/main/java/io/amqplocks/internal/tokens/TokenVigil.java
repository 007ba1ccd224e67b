package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.HeldToken;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.TokenSubscription;
import io.amqplocks.internal.waiting.Vigil;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/**
 * Waiting for a token as a consumer: the broker sends one as soon as there is one for us. A token that is
 * sent is held from then on, whether the waiter knows it yet or not; so there is nobody to overtake, and
 * one that comes to a waiter who has left goes back at once. Whatever becomes of it then, the subscription
 * is used up.
 *
 * <p>For one thread at a time.
 */
final class TokenVigil implements Vigil {

  private final Session session;
  private final TokenSubscription subscription;
  private final TokenPlace place;
  private final TokenHolding holding;
  private final Taking leases;
  private final Session.Member onEnd;
  private boolean queueIsGone;

  TokenVigil(
      Session session,
      TokenSubscription subscription,
      TokenPlace place,
      TokenHolding holding,
      Taking leases,
      Runnable wake) {
    this.session = session;
    this.subscription = subscription;
    this.place = place;
    this.holding = holding;
    this.leases = leases;
    onEnd = reason -> wake.run();
    session.join(onEnd);
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for a token of " + call.lock(), null);
    }
    // The broker must have heard from us lately, or it may be about to give us up.
    if (session.silentNanos() > pauseNanos() && !session.tokens().exists(call, place.queue())) {
      queueIsGone = true;
    }
    // What came is had from the subscription once, so no attempt after this one can meet it again.
    Optional<HeldToken> come = subscription.claim();
    return come.isPresent() && holding.accept(call, session, come.get())
        ? leases.take(call, session, holding)
        : Optional.empty();
  }

  @Override
  public boolean isOver() {
    return queueIsGone || subscription.isOver();
  }

  @Override
  public long pauseNanos() {
    return session.heartbeat().toNanos() / 2;
  }

  @Override
  public void close() {
    session.leave(onEnd);
    subscription.close();
  }
}
