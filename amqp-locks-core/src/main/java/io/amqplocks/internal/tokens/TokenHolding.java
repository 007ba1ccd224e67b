package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.session.Answer;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.HeldToken;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.TokenQueues.Take;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LossReason;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holding by an unacknowledged message. To receive it is to hold, and nothing else needs securing: the
 * broker gives it to nobody else while our channel lives. On a quorum queue it carries how often it came
 * back, and that is a fencing token: who has the message next, gets a higher number.
 *
 * <p>Concurrency: the token is written once, before the lease is known to any other thread; volatile,
 * since those come by ways of their own.
 */
final class TokenHolding implements Holding {

  private static final Logger log = LoggerFactory.getLogger(TokenHolding.class);

  /** How many messages that are no tokens one attempt clears away. */
  private static final int MOST_STRAYS = 100;

  private final LockId lock;
  private final TokenPlace place;
  private final boolean fenced;
  private volatile @Nullable HeldToken token;
  private volatile @Nullable HoldRisk risk;
  private volatile @Nullable TokenContent content;
  private volatile boolean pushed;
  private volatile boolean queueIsGone;

  TokenHolding(LockId lock, TokenPlace place, boolean fenced) {
    this.lock = lock;
    this.place = place;
    this.fenced = fenced;
  }

  /** Takes a token that the broker sent of itself; false if it is none. */
  boolean accept(Call call, Session session, HeldToken come) {
    pushed = true;
    return isToken(call, session, come);
  }

  @Override
  public LockId lock() {
    return lock;
  }

  /** Zero for a stranger's token, which has no number. */
  @Override
  public int slot() {
    TokenContent known = content;
    return known == null ? 0 : known.slot();
  }

  @Override
  public boolean contend(Call call, Session session) {
    if (token != null) {
      return true;
    }
    for (int i = 0; i < MOST_STRAYS; i++) {
      Take take = session.tokens().take(call, place.queue());
      HeldToken taken = take.token();
      if (taken == null) {
        queueIsGone = take.outcome() == Take.Outcome.NO_QUEUE;
        return false;
      }
      if (isToken(call, session, taken)) {
        return true;
      }
    }
    throw new LockException.Unexpected(
        "Queue %s is full of messages that are no tokens of %s; see who publishes them, and delete them"
                .formatted(place.queue(), lock)
            + " with admin().tokenSemaphore(name).repair(patience)",
        null);
  }

  private boolean isToken(Call call, Session session, HeldToken taken) {
    Optional<TokenContent> read = read(call, session, taken);
    if (read.isEmpty() && !place.plain()) {
      log.warn(
          "A message in queue {} is no token of {} and was removed; somebody publishes there",
          place.queue(),
          lock);
      session.tokens().drop(taken);
      return false;
    }
    content = read.orElse(null);
    risk = new HoldRisk(call.ticker().nanos());
    token = taken;
    return true;
  }

  /** What the message says; empty if that is no token of the semaphore's record. */
  private Optional<TokenContent> read(Call call, Session session, HeldToken taken) {
    try {
      return TokenContent.parse(taken.content())
          .filter(token -> place.roll().has(call, session, token));
    } catch (LockException e) {
      // Nobody knows of it yet who would give it back.
      session.tokens().release(taken);
      throw e;
    }
  }

  /** Whether contending failed because the queue is not there. */
  boolean queueIsGone() {
    return queueIsGone;
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    if (fenced) {
      requireCounted(session);
    }
    HeldToken ours = token;
    if (ours == null) {
      return false;
    }
    ours.whenGone(revoked);
    return !ours.isGone();
  }

  private void requireCounted(Session session) {
    TokenContent known = content;
    if (known == null || !place.isQuorum()) {
      throw new LockException.FenceUnavailable(
          "The %s has no fencing tokens: its queue %s is a classic one, which counts nothing; create it"
                  .formatted(lock, place.queue())
              + " as TokenQueueType.QUORUM");
    }
    int major = session.server().major();
    if (known.brokerMajor() != major) {
      throw new LockException.FenceUnavailable(
          "There is no fencing token of %s: its tokens are of RabbitMQ %d, and RabbitMQ %d counts anew;"
                  .formatted(lock, known.brokerMajor(), major)
              + " have an administrator repair it, by admin().%s(\"%s\").repair(patience), which makes new"
                  .formatted(
                      lock.kind() == LockKind.FENCED_MUTEX ? "fencedMutex" : "tokenSemaphore",
                      lock.name())
              + " tokens");
    }
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    HeldToken ours = token;
    TokenContent known = content;
    if (!fenced || ours == null || known == null) {
      return Optional.empty();
    }
    return Optional.of(new FencingToken(known.slot(), known.epoch(), ours.returns()));
  }

  @Override
  public boolean mayBeHandedOver() {
    return !fenced;
  }

  @Override
  public Standing standing(Call call, Session session) {
    HeldToken ours = token;
    if (ours == null) {
      return Standing.GONE;
    }
    if (ours.isGone()) {
      return gone(call, ours);
    }
    HoldRisk known = risk;
    if (known != null) {
      known.warn(call.ticker().nanos(), this, session.server(), place);
    }
    Answer answer;
    try {
      answer = session.tokens().look(call, ours, place.isQuorum());
    } catch (LockException.Unanswered e) {
      return Standing.UNKNOWN;
    }
    return switch (answer) {
      case OK -> Standing.OURS;
      case NONE -> Standing.UNKNOWN;
      case ABSENT, LOCKED -> gone(call, ours);
    };
  }

  /** Whoever asks may hear of it before the reason is known. */
  private static Standing gone(Call call, HeldToken ours) {
    ours.awaitFate(call.remainingNanos());
    return Standing.GONE;
  }

  @Override
  public void release(Call call, Session session) {
    HeldToken ours = token;
    if (ours != null) {
      session.tokens().release(ours);
    }
  }

  /** A message that was sent to us says nothing of whether we are heard; the last answer does. */
  @Override
  public long proofAgeNanos(Session session) {
    return pushed ? session.silentNanos() : 0;
  }

  @Override
  public String trace() {
    return place.queue();
  }

  @Override
  public LossReason loss() {
    HeldToken ours = token;
    return ours == null ? Holding.super.loss() : ours.loss();
  }

  @Override
  public String toString() {
    return "a token of " + lock;
  }
}
