package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.ContendedMutexes.Wait;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Waiting for a token as a consumer: the broker sends one as soon as there is one for us. A pushed
 * token is held at once, whether the waiter knows it yet or not. So the waiter cannot be overtaken,
 * and a token for a waiter that has left goes back at once. The subscription is used up by the
 * first token, whatever becomes of it.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class TokenDeliverySubscription implements Subscription {

  private final Session session;
  private final TokenSubscription subscription;
  private final TokenQueueRef tokenQueue;
  private final TokenContest contest;
  private final Wait wait;
  private final LeaseFactory leases;
  private final Session.Member onEnd;
  private @Nullable LockException failure;
  private boolean queueIsGone;
  private boolean isServed;

  TokenDeliverySubscription(
      Session session,
      TokenSubscription subscription,
      TokenQueueRef tokenQueue,
      TokenContest contest,
      Wait wait,
      LeaseFactory leases,
      Runnable wake) {
    this.session = session;
    this.subscription = subscription;
    this.tokenQueue = tokenQueue;
    this.contest = contest;
    this.wait = wait;
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
    // If the broker has not answered a request lately, it may be about to drop the connection.
    boolean looks =
        session.silentNanos() > pauseNanos() || !session.broker().tellsOfDeletedQueues();
    failure = null;
    if (looks) {
      look(call.half());
    }
    // The subscription yields its token once, so no later attempt can receive it again.
    Optional<TokenHold> won =
        subscription.claim().flatMap(pushed -> contest.accept(call, session, pushed));
    if (won.isPresent()) {
      isServed = true;
      wait.served();
    }
    return won.isPresent() ? leases.take(call, session, (same, own) -> won) : Optional.empty();
  }

  /** Without an answer the consumer stands by all the same, and its token may have come. */
  private void look(Call call) {
    try {
      queueIsGone = !TokenQueues.of(session).exists(call, tokenQueue.queue());
    } catch (LockException.Unanswered e) {
      if (!session.isOpen()) {
        throw e;
      }
      failure = e;
    }
  }

  @Override
  public Optional<LockException> failure() {
    return Optional.ofNullable(failure);
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
    if (!isServed) {
      wait.failed();
    }
  }
}
