package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.TokenSubscription;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Vigil;
import java.util.Optional;

/**
 * Acquiring a slot of a token semaphore as seed 000 has it: take a token if one is idle, else wait as a
 * consumer. Leases of quorum queues have a connection of their own: such a queue without a majority
 * answers a get by closing the connection (541), which must cost no lease of any
 * other kind; those of other quorum queues it does cost.
 *
 * @param directory knows where the tokens are
 * @param missing is called when the lock does not exist; returns if it has made it
 * @param quorumSessions the connections for quorum queues
 * @param leases where the lease is entered
 * @param fenced whether the lease must have a fencing token
 * @param priority of all who wait those with the highest are served first
 */
public record TokenClaim(
    TokenDirectory directory,
    Missing missing,
    Sessions quorumSessions,
    Taking leases,
    boolean fenced,
    int priority)
    implements Claim {

  /** What is remembered of the lock may be old, once; what its record says, too, and then it is made. */
  private static final int TRIES = 3;

  /** What to do about a lock that does not exist. */
  @FunctionalInterface
  public interface Missing {
    /** Nothing but to say so. */
    Missing FAILS =
        (call, session) -> {
          throw TokenDirectory.notFound(call.lock());
        };

    /** Makes it, or throws. */
    void make(Call call, Session session);
  }

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    for (int i = 0; i < TRIES; i++) {
      TokenPlace place = find(call, session);
      TokenHolding holding = new TokenHolding(call.lock(), place, fenced);
      Optional<HeldLease> lease = leases.take(call, carrier(call, session, place), holding);
      if (!holding.queueIsGone()) {
        return lease;
      }
      queueIsGone(call, session, place, i);
    }
    throw TokenDirectory.notFound(call.lock());
  }

  /** The record may be out of date, or the queue was lost. */
  private void queueIsGone(Call call, Session session, TokenPlace place, int tried) {
    directory.forget(call.lock(), place);
    if (tried == TRIES - 2) {
      missing.make(call, session);
    }
  }

  @Override
  public Vigil keepVigil(Call call, Session session, Runnable wake) {
    for (int i = 0; i < TRIES; i++) {
      TokenPlace place = find(call, session);
      Session carrier = carrier(call, session, place);
      Optional<TokenSubscription> waiting =
          carrier.tokens().await(call, place.queue(), place.isClassic(), priority, wake);
      if (waiting.isPresent()) {
        TokenHolding holding = new TokenHolding(call.lock(), place, fenced);
        return new TokenVigil(carrier, waiting.get(), place, holding, leases, wake);
      }
      queueIsGone(call, session, place, i);
    }
    throw TokenDirectory.notFound(call.lock());
  }

  private TokenPlace find(Call call, Session session) {
    Optional<TokenPlace> place = directory.find(call, session);
    if (place.isPresent()) {
      return place.get();
    }
    missing.make(call, session);
    return directory.find(call, session).orElseThrow(() -> TokenDirectory.notFound(call.lock()));
  }

  private Session carrier(Call call, Session session, TokenPlace place) {
    return place.isQuorum() ? quorumSessions.current(call) : session;
  }
}
