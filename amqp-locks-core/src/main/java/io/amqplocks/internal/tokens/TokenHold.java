package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.ReturnedMessageJudge.Verdict;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LossReason;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold by an unacknowledged message. To receive the message is to hold, and nothing else needs to
 * be secured: the broker gives it to nobody else while it knows our channel. On a quorum queue the
 * message carries the number of its returns, which is a fencing token: the next holder of the
 * message gets a higher number. The number of a lease is fixed when it is acquired.
 *
 * <p>Concurrency: what was received last is one immutable object. It is replaced by verifications,
 * of which there is one at a time, and read by any thread. Its number is in it, so that no thread
 * sees the number of one slot and the token of another one.
 */
final class TokenHold implements Hold {

  private static final Logger log = LoggerFactory.getLogger(TokenHold.class);

  private final LockId lock;
  private final TokenQueueRef tokenQueue;
  private final boolean fenced;
  private final boolean keptInItsSlot;
  private final boolean pushed;
  private final HeldToken token;
  private volatile Optional<FencingToken> number;
  private volatile Received received;

  /**
   * The message that was received last.
   *
   * @param content the token in it; empty for a stranger's token, in the plain protocol
   * @param returns how often it was taken and put back before
   * @param number the fencing token that it brought with it, if there is one; a token that comes
   *     back to its holder brings the one that it had
   * @param risk warns when it has been held for long
   */
  record Received(
      Optional<TokenContent> content,
      long returns,
      Optional<FencingToken> number,
      ConsumerTimeoutWarning risk) {}

  /**
   * The hold by a message that is a token.
   *
   * @param fenced whether the lease must have a fencing token, and keep its slot
   * @param keptInItsSlot whether another slot's token cannot stand for this one
   * @param pushed whether the message arrived while nobody waited for an answer
   */
  TokenHold(
      LockId lock,
      TokenQueueRef tokenQueue,
      boolean fenced,
      boolean keptInItsSlot,
      boolean pushed,
      HeldToken token,
      Received received) {
    this.lock = lock;
    this.tokenQueue = tokenQueue;
    this.fenced = fenced;
    this.keptInItsSlot = keptInItsSlot;
    this.pushed = pushed;
    this.token = token;
    this.received = received;
    number = received.number();
  }

  @Override
  public LockId lock() {
    return lock;
  }

  /** The token's slot; 0 for a stranger's token, which has no slot number. */
  @Override
  public int slot() {
    return received.content().map(TokenContent::slot).orElse(0);
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    if (fenced && number.isEmpty()) {
      throw notCounted(session);
    }
    token.whenGone(revoked);
    return !token.isGone();
  }

  private LockException notCounted(Session session) {
    Optional<TokenContent> content = received.content();
    if (content.isEmpty() || !tokenQueue.isQuorum()) {
      return new LockException.FenceUnavailable(
          "The %s has no fencing tokens: its queue %s is a classic one, which counts nothing; create it"
                  .formatted(lock, tokenQueue.queue())
              + " as TokenQueueType.QUORUM");
    }
    String why =
        content.get().brokerMajor() == session.broker().major()
            ? "its numbers are ahead of this machine's clock, or it was acquired too often"
            : "its tokens are of RabbitMQ %d, and RabbitMQ %d counts anew"
                .formatted(content.get().brokerMajor(), session.broker().major());
    return new LockException.FenceUnavailable(
        "There is no fencing token of %s: %s;".formatted(lock, why)
            + " have an administrator repair it, by admin().%s(\"%s\").repair(timeout), which makes new"
                .formatted(
                    lock.kind() == LockKind.FENCED_MUTEX ? "fencedMutex" : "tokenSemaphore",
                    lock.name())
            + " tokens");
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    return number;
  }

  /**
   * A lease that is not fenced may have moved to another slot's token. The next lease of the hold
   * would begin with a fencing token that was superseded before.
   */
  @Override
  public boolean mayBeHandedTo(boolean toFenced) {
    boolean isOfItsSlot = number.isEmpty() || number.equals(received.number());
    return fenced || (!toFenced && isOfItsSlot);
  }

  @Override
  public void renumber() {
    number = received.number();
  }

  @Override
  public HoldStatus status(Call call, Session session) {
    received.risk().warn(call.ticker().nanos(), this, session.broker(), tokenQueue);
    try {
      if (session.broker().areDeliveriesKept()) {
        boolean isThere = TokenQueues.of(session).exists(call, tokenQueue.queue());
        return isThere && !token.isGone() ? HoldStatus.OURS : HoldStatus.GONE;
      }
      if (keptInItsSlot) {
        TokenQueues tokens = TokenQueues.of(session);
        switch (tokens.idleBesides(call.half(), token)) {
          case SOME -> {
            if (token.isGone()) {
              return HoldStatus.GONE;
            }
            if (tokens.judgeLate(call, token, came -> judge(call, session, came))) {
              return HoldStatus.OURS;
            }
          }
          case NO_QUEUE -> {
            return HoldStatus.GONE;
          }
          case UNKNOWN -> {
            return HoldStatus.UNKNOWN;
          }
          case NONE -> log.trace("None is idle, so what {} gives back comes back", this);
        }
      }
      Answer answer =
          TokenQueues.of(session)
              .verify(call, token, keptInItsSlot, came -> judge(call, session, came));
      return switch (answer) {
        case OK -> HoldStatus.OURS;
        case TIMED_OUT -> HoldStatus.UNKNOWN;
        case ABSENT, LOCKED -> HoldStatus.GONE;
      };
    } catch (LockException.Unanswered e) {
      return HoldStatus.UNKNOWN;
    }
  }

  /**
   * Judges a message that came back at a verification. The lease may move to another slot's token,
   * unless it is fenced: its number belongs to its slot, and was issued with the lease.
   */
  private Verdict judge(Call call, Session session, Delivery came) {
    Optional<TokenContent> content;
    try {
      content = tokenQueue.token(call, session, came.content());
    } catch (LockException e) {
      log.debug("Whether what came is a token of {} cannot be told: {}", lock, e.getMessage());
      return Verdict.EXCHANGE;
    }
    if (tokenQueue.isStray(content)) {
      return Verdict.DROP;
    }
    Received last = received;
    if (fenced) {
      if (content.isEmpty() || !last.content().filter(content.get()::isSameAs).isPresent()) {
        return Verdict.EXCHANGE;
      }
      if (!isNextOf(last, content, came)) {
        return Verdict.LOST;
      }
    }
    boolean isNext = isNextOf(last, content, came);
    Optional<FencingToken> brought =
        isNext
            ? last.number()
            : content.flatMap(
                token -> tokenQueue.fencingToken(token, came.returns(), session.broker().major()));
    received =
        new Received(
            content, came.returns(), brought, new ConsumerTimeoutWarning(call.ticker().nanos()));
    return isNext ? Verdict.PROVEN : Verdict.KEEP;
  }

  /** Whether it is the token that was there before, and nobody had it in between. */
  private static boolean isNextOf(Received last, Optional<TokenContent> content, Delivery came) {
    return content.isPresent()
        && last.content().filter(content.get()::isSameAs).isPresent()
        && came.returns() == last.returns() + 1;
  }

  @Override
  public void release(Call call, Session session) {
    TokenQueues.of(session).release(token);
  }

  @Override
  public boolean isInDoubt() {
    return token.isDoubtful();
  }

  @Override
  public boolean isUnderWay() {
    return token.state().isGivenBack();
  }

  @Override
  public boolean isPushed() {
    return token.isConsumed();
  }

  /** A pushed message does not prove that the broker hears us. What it carried out last does. */
  @Override
  public long proofAgeNanos(Session session) {
    return pushed ? session.silentNanos() : 0;
  }

  @Override
  public String queueName() {
    return tokenQueue.queue();
  }

  @Override
  public LossReason loss() {
    return token.loss();
  }

  @Override
  public String toString() {
    return "a token of " + lock;
  }
}
