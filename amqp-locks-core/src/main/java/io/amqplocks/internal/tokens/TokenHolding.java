package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.session.Answer;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Delivery;
import io.amqplocks.internal.session.HeldToken;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.TokenJudge.Verdict;
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
 * broker gives it to nobody else while it knows our channel. On a quorum queue it carries how often it
 * came back, and that is a fencing token: who has the message next, gets a higher number. The number of a
 * lease is fixed when it is acquired.
 *
 * <p>Concurrency: token and number are written once, before the lease is known to any other thread;
 * volatile, since those come by ways of their own. Which slot's token it is, and how often it came back,
 * is written by verifications as well, of which there is one at a time.
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
  private volatile @Nullable FencingToken number;
  private volatile long returns;
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
      Take take = session.tokens().take(call, place.queue(), place.isClassic());
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
    returns = taken.returns();
    number =
        fenced && read.isPresent()
            ? new FencingToken(read.get().slot(), read.get().epoch(), taken.returns())
            : null;
    taken.approve();
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
    return Optional.ofNullable(number);
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
    HoldRisk known = risk;
    if (known != null) {
      known.warn(call.ticker().nanos(), this, session.server(), place);
    }
    try {
      if (fenced && lock.kind() != LockKind.FENCED_MUTEX) {
        switch (session.tokens().idle(call.half(), ours)) {
          case SOME -> {
            return ours.isGone() ? Standing.GONE : Standing.OURS;
          }
          case NO_QUEUE -> {
            return Standing.GONE;
          }
          case UNKNOWN -> {
            return Standing.UNKNOWN;
          }
          case NONE -> log.trace("None is idle, so what {} gives back comes back", this);
        }
      }
      Answer answer =
          session.tokens().verify(call, ours, fenced, came -> judge(call, session, came));
      return switch (answer) {
        case OK -> Standing.OURS;
        case NONE -> Standing.UNKNOWN;
        case ABSENT, LOCKED -> Standing.GONE;
      };
    } catch (LockException.Unanswered e) {
      return Standing.UNKNOWN;
    }
  }

  /**
   * What came back at a verification. The lease may move to another slot's token, unless it is fenced: its
   * number is of its slot, and was given away with it.
   */
  private Verdict judge(Call call, Session session, Delivery came) {
    Optional<TokenContent> read;
    try {
      read =
          TokenContent.parse(came.content())
              .filter(token -> place.roll().has(call, session, token));
    } catch (LockException e) {
      log.debug("Whether what came is a token of {} cannot be told: {}", lock, e.getMessage());
      return Verdict.EXCHANGE;
    }
    if (read.isEmpty() && !place.plain()) {
      log.warn(
          "A message in queue {} is no token of {} and was removed; somebody publishes there",
          place.queue(),
          lock);
      return Verdict.DROP;
    }
    TokenContent known = content;
    if (fenced) {
      if (known == null || read.isEmpty() || !known.isSameAs(read.get())) {
        return Verdict.EXCHANGE;
      }
      if (came.returns() != returns + 1) {
        return Verdict.LOST;
      }
    }
    content = read.orElse(null);
    returns = came.returns();
    risk = new HoldRisk(call.ticker().nanos());
    return Verdict.KEEP;
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
