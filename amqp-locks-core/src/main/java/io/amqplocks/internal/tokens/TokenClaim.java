package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.tokens.ContendedMutexes.Wait;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Variant;
import io.amqplocks.lock.LockId;
import java.util.Optional;

/**
 * Acquires a slot of a token semaphore, as the RabbitMQ blog's semaphore does: take a token if one
 * is idle, else wait as a consumer. A fenced mutex that was busy the last time is waited for at
 * once.
 *
 * <p>Leases of quorum queues have a connection of their own. Such a queue without a majority
 * replies to a get by closing the connection (541). That must cost no lease of another kind; it
 * does cost those of other quorum queues.
 *
 * @param locator locates the token queues
 * @param contended the mutexes that were busy
 * @param missing is called when the lock does not exist; returns if it has created the lock
 * @param quorumSessions the connections for quorum queues
 * @param leases where the lease is registered
 * @param fenced whether the lease must have a fencing token
 * @param priority waiters with the highest priority are served first
 */
public record TokenClaim(
    TokenQueueLocator locator,
    ContendedMutexes contended,
    Missing missing,
    Sessions quorumSessions,
    LeaseFactory leases,
    boolean fenced,
    int priority)
    implements Claim {

  /**
   * Three, because the remembered queue may be outdated once, and so may the record. The lock is
   * then created, if its users create it. There are more for a lock that is moved meanwhile.
   */
  private static final int TRIES = 3;

  /**
   * The kind of lock whose slots are acquired so.
   *
   * @param alwaysFenced whether each lease has a fencing token, requested or not
   */
  public static Kind kind(
      TokenQueueLocator locator,
      ContendedMutexes contended,
      Missing missing,
      Sessions quorumSessions,
      LeaseFactory leases,
      boolean alwaysFenced) {
    return new Kind() {
      @Override
      public Claim claim(Variant variant) {
        boolean fenced = alwaysFenced || variant.fenced();
        return new TokenClaim(
            locator, contended, missing, quorumSessions, leases, fenced, variant.priority());
      }

      @Override
      public boolean hasPriorities() {
        return true;
      }
    };
  }

  /** The reaction to a lock that does not exist. */
  @FunctionalInterface
  public interface Missing {
    /** Reports that the lock does not exist. */
    Missing FAILS =
        (call, session) -> {
          throw TokenQueueLocator.notFound(call.lock());
        };

    /** Creates the lock, or throws. */
    void make(Call call, Session session);
  }

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    int tried = 0;
    while (tried < TRIES) {
      TokenQueueRef tokenQueue = find(call, session);
      TokenContest contest = new TokenContest(call.lock(), tokenQueue, fenced);
      Optional<HeldLease> lease = leases.take(call, carrier(call, session, tokenQueue), contest);
      if (!contest.queueIsGone()) {
        contended.remember(call.lock(), lease.isEmpty());
        return lease;
      }
      tried = triedWithout(call, session, tokenQueue, tried);
    }
    throw TokenQueueLocator.notFound(call.lock());
  }

  /**
   * Forgets the queue, which is gone: it was remembered or recorded too long ago, or it was lost.
   *
   * @return how many tries that makes; one more, unless the lock was moved to another queue
   */
  private int triedWithout(Call call, Session session, TokenQueueRef gone, int tried) {
    locator.forget(call.lock(), gone);
    if (tried > 0 && locator.isMoved(call, session, gone)) {
      return tried;
    }
    if (tried == TRIES - 2) {
      missing.make(call, session);
    }
    return tried + 1;
  }

  @Override
  public boolean isAcquiredBySubscribing(LockId lock) {
    return contended.has(lock);
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    int tried = 0;
    while (tried < TRIES) {
      TokenQueueRef tokenQueue = find(call, session);
      Session carrier = carrier(call, session, tokenQueue);
      Wait wait = contended.prepare(call);
      Runnable arrived =
          () -> {
            wait.come();
            wake.run();
          };
      Optional<TokenSubscription> waiting =
          TokenQueues.of(carrier).await(call, tokenQueue, priority, arrived);
      if (waiting.isPresent()) {
        wait.begin();
        TokenContest contest = new TokenContest(call.lock(), tokenQueue, fenced);
        return new TokenDeliverySubscription(
            carrier, waiting.get(), tokenQueue, contest, wait, leases, wake);
      }
      tried = triedWithout(call, session, tokenQueue, tried);
    }
    throw TokenQueueLocator.notFound(call.lock());
  }

  private TokenQueueRef find(Call call, Session session) {
    Optional<TokenQueueRef> tokenQueue = locator.find(call, session);
    if (tokenQueue.isPresent()) {
      return tokenQueue.get();
    }
    missing.make(call, session);
    return locator
        .findMade(call, session)
        .orElseThrow(() -> TokenQueueLocator.notFound(call.lock()));
  }

  private Session carrier(Call call, Session session, TokenQueueRef tokenQueue) {
    return tokenQueue.isQuorum() ? quorumSessions.current(call) : session;
  }
}
