package io.amqplocks.internal.tokens;

import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.internal.tokens.TokenArrivals.Idle;
import io.amqplocks.internal.tokens.TokenState.ReceivedMessage;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a token is still held: the holder gives it back and receives it again. The holder's
 * consumer has the highest priority of the queue and room for one message. So the queue takes the
 * message back and gives it, or an idle one in its place, to that very consumer in one step. If the
 * message was no longer ours, the queue does not take it back, and nothing comes.
 *
 * <p>A token from a get, or from a waiter's consumer, is first taken over by such a consumer, on
 * another channel. A queue identifies messages by channel and number. If the queue's process was
 * restarted and knows the channel as a consumer's, a nack by an old number could put back another
 * client's message.
 *
 * <p>While that consumer has room, it may be sent what another holder gives back. Where another
 * token cannot stand for this one, that would cost one of the two its lease. So there the consumer
 * that has the token is given the highest priority where it is, and never has room. That is for
 * quorum queues only, which know a message by its consumer.
 *
 * <p>That nothing comes is proven by the two requests of {@link TokenArrivals}. The queue answers
 * the first one after it has received the message back. While a message is on its way inside this
 * process, nothing is proven: the held message is neither given back nor given up. Nor is anything
 * proven while another token of the queue is taken over here. That one's consumer has room before
 * its former message goes back, so the message of this one may have gone there. The other one's
 * former message takes its place soon. Another client that takes its token over gives such a
 * message back as soon as it sees it. So a token is not given up before it was awaited for some
 * time, by this verification or by several. A client that is stopped meanwhile may cost another one
 * its lease.
 *
 * <p>A holder that lost its token unnoticed waits there too, and another holder that verifies its
 * own gives that one to it. Then the other would wait, and the two would go on to pass one token to
 * each other. So a token that comes after the queue had nothing is no proof, unless it has a count
 * that says so: it is given back at once. The other holder waits for it and gets it. If nobody else
 * waits, it comes back before the queue's answer. The lease is in doubt meanwhile. A holder whose
 * tokens come late again and again gives up soon.
 *
 * <p>A quorum queue puts what is given back behind all others. So a stranger's message may come in
 * place of the token, and another client may get the token while that message is on its way. If the
 * token does not come soon after that, it is given up. If this client waited for longer, the two
 * would go on to pass one token to each other, each time that one of them verifies.
 *
 * <p>Concurrency: one verification of a token at a time. It may meet a release, or the broker's
 * notification of an end, at any moment: see {@link HeldToken}.
 *
 * <p>The file is above 300 lines because what each answer proves is one argument.
 */
final class TokenVerification {

  private static final Logger log = LoggerFactory.getLogger(TokenVerification.class);

  /** The most messages that one verification judges without finding a token for its lease. */
  private static final int MOST_EXCHANGES = 50;

  /**
   * How many tokens in succession may come late. Each may have been with another client that took
   * its own over, and was slow. More are another holder's.
   */
  private static final int MOST_LATE = 3;

  /** How many tokens of others a take-over declines before it is put off. */
  private static final int MOST_DECLINED = 3;

  /**
   * The longest pause after others' tokens came while a token was taken over. It is random, so that
   * a holder does not keep step with a client that takes and releases without end.
   */
  private static final long LONGEST_STEP_BACK = Duration.ofMillis(20).toNanos();

  private final ConsumerChannelPool channels;
  private final TokenArrivals arrivals;
  private final TokenQueues tokens;
  private final Set<HeldToken> takingOver = ConcurrentHashMap.newKeySet();

  TokenVerification(ConsumerChannelPool channels, TokenArrivals arrivals, TokenQueues tokens) {
    this.channels = channels;
    this.arrivals = arrivals;
    this.tokens = tokens;
  }

  /**
   * Verifies the token.
   *
   * @param thisOne whether there are others that cannot stand for it. None of them may be idle, and
   *     no stray message either.
   * @param judge judges each message that comes
   * @return OK if a token is held; ABSENT if not, and then the token is gone; TIMED_OUT if neither
   *     is proven, and then a token that was being taken over is where it was
   */
  Answer of(Call call, HeldToken token, boolean thisOne, ReturnedMessageJudge judge) {
    if (!token.turn(call)) {
      return Answer.TIMED_OUT;
    }
    try {
      return inTurn(call, token, thisOne, judge);
    } finally {
      token.turned();
    }
  }

  /**
   * Judges a message that came after the last verification had given up waiting, for a holder that
   * cannot give it back now, because other tokens are idle. These prove that the holder's consumer
   * has one.
   *
   * @return false if that may be another slot's token
   */
  boolean judgeLate(Call call, HeldToken token, ReturnedMessageJudge judge) {
    if (!token.turn(call)) {
      return false;
    }
    try {
      Delivery message = token.state().former() == null ? token.state().message() : null;
      if (message == null || token.isJudged(message)) {
        return true;
      }
      boolean isOurs = judge.of(message) == ReturnedMessageJudge.Verdict.PROVEN;
      if (isOurs) {
        token.approve(true);
      }
      return isOurs;
    } finally {
      token.turned();
    }
  }

  private Answer inTurn(Call call, HeldToken token, boolean thisOne, ReturnedMessageJudge judge) {
    Answer answer = Answer.TIMED_OUT;
    try {
      answer = prove(call, token, thisOne, judge);
      return answer;
    } finally {
      if (answer == Answer.TIMED_OUT) {
        // Else its new consumer could keep another client's token until the next verification.
        boolean unused = declined(token);
      }
      takingOver.remove(token);
    }
  }

  private Answer prove(Call call, HeldToken token, boolean thisOne, ReturnedMessageJudge judge) {
    boolean given = false;
    long givenAt = 0;
    int declined = 0;
    for (int i = 0; i < MOST_EXCHANGES; i++) {
      TokenState now = token.state();
      if (now.phase().isFinal()) {
        return Answer.ABSENT;
      }
      Delivery message = now.message();
      Answer step = Answer.OK;
      if (message == null) {
        step = now.former() == null ? comesBack(call, token) : nothingElseCame(call, token);
      } else if (!token.isJudged(message)) {
        switch (judge.of(message)) {
          case PROVEN -> {
            token.approve(true);
            giveFormerBack(token);
          }
          case KEEP -> {
            token.approve(false);
            giveFormerBack(token);
          }
          case EXCHANGE -> {
            if (declined(token)) {
              given = false;
              step = ++declined < MOST_DECLINED ? stepBack(call) : Answer.TIMED_OUT;
            } else {
              step = giveBack(call, token, thisOne, Delivery::putBack);
            }
          }
          case DROP -> {
            if (now.former() == null) {
              token.displaced();
            }
            step = giveBack(call, token, thisOne, Delivery::remove);
          }
          case LOST -> {
            token.gone(lost(token, "somebody else had it"));
            return Answer.ABSENT;
          }
        }
      } else if (given && !token.isLate()) {
        // Whoever only holds makes no other requests, and must not be taken for cut off.
        channels.carriedOut(givenAt);
        return Answer.OK;
      } else {
        given = true;
        givenAt = channels.nanos();
        step = giveBack(call, token, thisOne, Delivery::putBack);
      }
      if (step != Answer.OK) {
        return step;
      }
    }
    if (declined(token) || token.isLate()) {
      return Answer.TIMED_OUT;
    }
    token.gone(lost(token, "others took it while it was verified"));
    return Answer.ABSENT;
  }

  /**
   * Declines what arrived while the token was taken over: the consumer is ended, and the message
   * goes to other clients. The token is still held, but that is not proven. It is taken over later.
   */
  private boolean declined(HeldToken token) {
    TokenState came = token.decline();
    if (came == null) {
      return false;
    }
    if (came.message() == null) {
      // A cancel leaves what the broker has sent by now here, for as long as nobody looks at it.
      came.receiver().cancel();
      channels.discard(came.receiver().loan());
    } else {
      tokens.putBack(came.receiver(), came.message());
    }
    return true;
  }

  private static Answer stepBack(Call call) {
    long pause = ThreadLocalRandom.current().nextLong(LONGEST_STEP_BACK);
    Futures.pause(Math.min(pause, call.remainingNanos()));
    return Answer.OK;
  }

  private static LossReason lost(HeldToken token, String why) {
    return new LossReason(
        Cause.REVOKED,
        "RabbitMQ has given the token of queue %s away: %s".formatted(token.queue(), why));
  }

  /** Answers a message. */
  private interface Answering {
    void of(Delivery message) throws IOException;
  }

  /** Gives the held message back, so that the next one comes. */
  private Answer giveBack(Call call, HeldToken token, boolean thisOne, Answering answering) {
    if (!token.hasTopPriority()) {
      if (!thisOne || !token.isConsumed() || !token.queueRef().isQuorum()) {
        return takeOver(call, token);
      }
      Answer kept = keep(call, token);
      if (kept != Answer.OK) {
        return kept;
      }
      Idle idle = arrivals.idleBesides(call.half(), token);
      if (idle != Idle.NONE) {
        // One came back meanwhile. It would be sent here in place of this one.
        return keptBeside(token, idle);
      }
    }
    ReceivedMessage held = token.giveBack(token.receiver());
    if (held == null) {
      return Answer.ABSENT;
    }
    try {
      answering.of(held.message());
      return Answer.OK;
    } catch (IOException | ShutdownSignalException e) {
      // The token is notified if its channel closes, and the session if its connection does.
      log.debug("A token of queue {} could not be verified", token.queue(), e);
      return Answer.TIMED_OUT;
    }
  }

  /** What an idle token proves, as {@link TokenArrivals#idleBesides} says. */
  private static Answer keptBeside(HeldToken token, Idle idle) {
    return switch (idle) {
      case NO_QUEUE -> token.isGone() ? Answer.ABSENT : absent(token);
      case UNKNOWN -> Answer.TIMED_OUT;
      case SOME, NONE -> token.isGone() ? Answer.ABSENT : Answer.OK;
    };
  }

  /**
   * Gives the consumer that has the token the highest priority: it is ended, and begun again with
   * the same tag on the same channel. It has the message all the time, so it has no room for
   * another. Without a reply nothing is given back, and the next verification does it once more.
   */
  private Answer keep(Call call, HeldToken token) {
    TokenReceiver receiver = token.receiver();
    Optional<BorrowedChannel> shared = channels.share(receiver.loan());
    if (shared.isEmpty()) {
      return token.state().phase().isFinal() ? Answer.ABSENT : Answer.TIMED_OUT;
    }
    BorrowedChannel loan = shared.get();
    long sentAt = channels.nanos();
    Answer answer = Answer.ABSENT;
    try {
      answer =
          channels.consumeAgain(
              call,
              "keep a token of queue " + token.queue(),
              loan,
              tokens.consume(token, receiver.tag(), TokenQueues.KEEPERS_PRIORITY),
              () -> !token.state().phase().isFinal(),
              late -> {
                kept(token, receiver, late);
                channels.giveBack(loan);
              });
      kept(token, receiver, answer);
    } finally {
      if (answer != Answer.TIMED_OUT) {
        channels.giveBack(loan);
      }
    }
    return switch (answer) {
      case OK -> {
        token.madeRoundTrip(sentAt);
        yield answer;
      }
      case TIMED_OUT -> answer;
      case ABSENT -> token.state().phase().isFinal() ? answer : absent(token);
      case LOCKED -> throw TokenQueues.locked(call, token.queue());
    };
  }

  /** The consumer has been begun again. A release meanwhile has postponed its cancel. */
  private static void kept(HeldToken token, TokenReceiver receiver, Answer answer) {
    if (answer == Answer.OK) {
      token.keptBy(receiver);
    }
  }

  /**
   * Starts a consumer of the highest priority for the next message. The held message is kept until
   * it is known what arrived there. A message that is no token could have arrived first. While it
   * is removed, a token that was given back could go to another client.
   */
  private Answer takeOver(Call call, HeldToken token) {
    String step = "consume tokens from queue " + token.queue();
    takingOver.add(token);
    BorrowedChannel loan = channels.borrowInExchange(call, step);
    TokenReceiver receiver = tokens.topPriorityReceiver(token, loan);
    if (token.giveBack(receiver) == null) {
      channels.giveBack(loan);
      return Answer.ABSENT;
    }
    long sentAt = channels.nanos();
    Method consume = tokens.consume(token, receiver.tag(), TokenQueues.HOLDERS_PRIORITY);
    Answer answer = Answer.TIMED_OUT;
    try {
      answer =
          channels.ask(
              call, step, loan, consume, Reading.NOTHING, late -> tookOver(token, receiver));
    } finally {
      // Without a reply the consumer may exist, or come to exist: it is declined in the end.
      if (answer == Answer.ABSENT || answer == Answer.LOCKED) {
        token.revert(receiver);
      }
    }
    return switch (answer) {
      case OK -> {
        token.madeRoundTrip(sentAt);
        tookOver(token, receiver);
        yield Answer.OK;
      }
      case ABSENT -> {
        channels.giveBack(loan);
        yield absent(token);
      }
      case LOCKED -> {
        channels.giveBack(loan);
        throw TokenQueues.locked(call, token.queue());
      }
      case TIMED_OUT -> Answer.TIMED_OUT;
    };
  }

  /**
   * The consumer exists. If it is no longer wanted, it is cancelled here, because a release in the
   * meantime may have sent its cancel before the consume was sent.
   */
  private void tookOver(HeldToken token, TokenReceiver receiver) {
    if (token.state().phase().isFinal() || !token.receiver().equals(receiver)) {
      tokens.putBack(receiver, null);
    }
  }

  /**
   * Asks the queue whether it had a message for the new consumer. If not, the held message is given
   * back.
   */
  private Answer nothingElseCame(Call call, HeldToken token) {
    return switch (arrivals.comesStill(call, token)) {
      case SOME -> Answer.OK;
      case NONE -> {
        putBack(token.takeFormerUnlessCame());
        yield Answer.OK;
      }
      case NO_QUEUE -> token.isGone() ? Answer.ABSENT : absent(token);
      case UNKNOWN -> TokenArrivals.came(token, 0) ? Answer.OK : Answer.TIMED_OUT;
    };
  }

  private void giveFormerBack(HeldToken token) {
    putBack(token.takeFormer());
  }

  private void putBack(@Nullable ReceivedMessage former) {
    if (former != null) {
      tokens.putBack(former.receiver(), former.message());
    }
  }

  private static Answer absent(HeldToken token) {
    token.gone(new LossReason(Cause.REVOKED, "queue " + token.queue() + " was deleted"));
    return Answer.ABSENT;
  }

  private boolean isAnotherTakenOver(HeldToken token) {
    return takingOver.stream()
        .anyMatch(other -> !other.equals(token) && other.queue().equals(token.queue()));
  }

  /** Waits for the message that was given back. */
  private Answer comesBack(Call call, HeldToken token) {
    boolean displaced = token.isDisplaced();
    long soon = displaced ? TokenArrivals.AT_ONCE : token.usualNanos();
    if (TokenArrivals.came(token, Math.min(soon, call.remainingNanos()))) {
      return Answer.OK;
    }
    boolean provesLoss = !isAnotherTakenOver(token);
    // Half of the time is left for messages on their way inside this process.
    Answer answer = arrivals.askForIt(call.half(), token);
    if (answer == Answer.ABSENT) {
      return token.isGone() ? answer : absent(token);
    }
    if (TokenArrivals.came(token, 0)) {
      return Answer.OK;
    }
    if (answer != Answer.OK) {
      return Answer.TIMED_OUT;
    }
    // What has reached this process had been sent before the answer.
    boolean underWay = token.receiver().loan().isReceiving();
    boolean isAnothers = !underWay && token.missed() >= MOST_LATE;
    long elsewhere = displaced || isAnothers ? TokenArrivals.SOON : TokenArrivals.LONGEST_ELSEWHERE;
    if (TokenArrivals.came(token, Math.min(elsewhere, call.remainingNanos()))) {
      return Answer.OK;
    }
    return switch (TokenArrivals.lastLook(call, token)) {
      case SOME -> Answer.OK;
      case UNKNOWN -> Answer.TIMED_OUT;
      case NONE, NO_QUEUE -> {
        boolean tooSoon = token.awaitedFor() < elsewhere;
        if (tooSoon || !provesLoss || isAnotherTakenOver(token)) {
          yield Answer.TIMED_OUT;
        }
        token.gone(lost(token, "it did not come back when it was verified"));
        yield Answer.ABSENT;
      }
    };
  }
}
