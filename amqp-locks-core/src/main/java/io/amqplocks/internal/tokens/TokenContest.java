package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.TokenHold.Received;
import io.amqplocks.internal.tokens.TokenQueues.Take;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.Optional;

/**
 * One contest for a token. It is won by receiving a message that is a token. A message that is none
 * is removed from the queue.
 *
 * <p>Concurrency: for one thread.
 */
final class TokenContest implements Hold.Contest {

  /** One attempt removes at most so many messages that are not tokens. */
  private static final int MOST_STRAYS = 100;

  private final LockId lock;
  private final TokenQueueRef tokenQueue;
  private final boolean fenced;
  private boolean queueIsGone;

  TokenContest(LockId lock, TokenQueueRef tokenQueue, boolean fenced) {
    this.lock = lock;
    this.tokenQueue = tokenQueue;
    this.fenced = fenced;
  }

  /** Contends for a token that is idle. */
  @Override
  public Optional<TokenHold> win(Call call, Session session) {
    TokenQueues tokens = TokenQueues.of(session);
    for (int i = 0; i < MOST_STRAYS; i++) {
      Take take =
          isKeptInItsSlot() && tokenQueue.isQuorum()
              ? tokens.takeByConsumer(call, tokenQueue)
              : tokens.take(call, tokenQueue);
      HeldToken taken = take.token();
      if (taken == null) {
        queueIsGone = take.outcome() == Take.Outcome.NO_QUEUE;
        return Optional.empty();
      }
      Optional<TokenHold> hold = hold(call, session, taken, false);
      if (hold.isPresent()) {
        return hold;
      }
    }
    throw new LockException.Unexpected(
        "Queue %s is full of messages that are no tokens of %s; see who publishes them, and delete them"
                .formatted(tokenQueue.queue(), lock)
            + " with admin().tokenSemaphore(name).repair(timeout)",
        null);
  }

  /** Whether the contest was lost because the queue does not exist. */
  boolean queueIsGone() {
    return queueIsGone;
  }

  /** The hold by a message that the broker pushed; empty if the message is no token. */
  Optional<TokenHold> accept(Call call, Session session, HeldToken pushed) {
    return hold(call, session, pushed, true);
  }

  private Optional<TokenHold> hold(Call call, Session session, HeldToken taken, boolean pushed) {
    Optional<TokenContent> content = read(call, session, taken);
    if (tokenQueue.isStray(content)) {
      TokenQueues.of(session).drop(taken);
      return Optional.empty();
    }
    Received received =
        new Received(
            content,
            taken.returns(),
            content.flatMap(
                token -> tokenQueue.fencingToken(token, taken.returns(), session.broker().major())),
            new ConsumerTimeoutWarning(call.ticker().nanos()));
    taken.approve(false);
    return Optional.of(
        new TokenHold(lock, tokenQueue, fenced, isKeptInItsSlot(), pushed, taken, received));
  }

  /** The token in the message. */
  private Optional<TokenContent> read(Call call, Session session, HeldToken taken) {
    try {
      return tokenQueue.token(call, session, taken.content());
    } catch (LockException e) {
      // No other code knows of the token yet, so nobody else would give it back.
      TokenQueues.of(session).release(taken);
      throw e;
    }
  }

  /**
   * Whether there are tokens that cannot stand for its own: the number of a fenced lease is its
   * slot's.
   */
  private boolean isKeptInItsSlot() {
    return fenced && lock.kind() != LockKind.FENCED_MUTEX;
  }
}
