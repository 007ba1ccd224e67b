package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.HeldToken.InHand;
import io.amqplocks.internal.session.HeldToken.State;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a token is still held, by giving it back to oneself. The holder's consumer goes before all
 * others of the queue and may have one message: so the queue takes the message back and gives it, or an
 * idle one in its stead, to that very consumer in one step. What was not ours any more, the queue does
 * not take back from us, and then nothing comes.
 *
 * <p>A token that was had by a get, or by a waiter's consumer, is first taken over by such a consumer. On
 * another channel: the queue knows messages by channel and number, and were it started anew meanwhile,
 * a channel that it knows as a consumer's could give back another's message by a number of before.
 *
 * <p>That nothing comes is proven by questions: one that the queue answers after it had the message back,
 * and one that the channel answers after it passed on what the queue sent.
 *
 * <p>Concurrency: one verification of a token at a time; what it may meet is a release, or the broker's
 * word, both at any moment: see {@link HeldToken}. The channel has a second owner while a question is
 * open there.
 */
public final class TokenProof {

  private static final Logger log = LoggerFactory.getLogger(TokenProof.class);

  /** How many messages that are not ours, or no tokens, one verification looks at. */
  private static final int MOST_EXCHANGES = 50;

  /** For how long a token may be under way before the queue is asked whether it comes at all. */
  private static final long SOON = Duration.ofMillis(100).toNanos();

  /** How long a message may be under way in this process that has come here. */
  private static final long LONGEST_IN_HERE = Duration.ofMillis(500).toNanos();

  private static final Method NOTHING_NEW = new Basic.Qos.Builder().prefetchCount(1).build();

  private final DeliveryChannels channels;
  private final TokenQueues tokens;

  /** Whether the queue has tokens that nobody holds. */
  public enum Idle {
    /** There is one at least. */
    SOME,
    /** There is none. */
    NONE,
    /** There is no such queue, or the channel is closed. */
    NO_QUEUE,
    /** The broker did not answer. */
    UNKNOWN
  }

  TokenProof(DeliveryChannels channels, TokenQueues tokens) {
    this.channels = channels;
    this.tokens = tokens;
  }

  /**
   * Verifies the token.
   *
   * @param thisOne whether no other token will do
   * @param judge says of each message that comes whether it may stand for the token
   * @return OK if a token is held; ABSENT if not, and then it is gone; NONE if the broker did not answer
   */
  Answer of(Call call, HeldToken token, boolean thisOne, TokenJudge judge) {
    if (!token.turn(call.remainingNanos())) {
      return Answer.NONE;
    }
    try {
      return prove(call, token, thisOne, judge);
    } finally {
      token.turned();
    }
  }

  private Answer prove(Call call, HeldToken token, boolean thisOne, TokenJudge judge) {
    boolean given = false;
    for (int i = 0; i < MOST_EXCHANGES; i++) {
      State now = token.state();
      if (now.phase().isFinal()) {
        return Answer.ABSENT;
      }
      Delivery message = now.message();
      Answer step = Answer.OK;
      if (message == null) {
        step = now.former() == null ? comesBack(call, token) : nothingElseCame(call, token);
      } else if (!token.isJudged(message)) {
        switch (judge.of(message)) {
          case KEEP -> {
            token.approve();
            giveFormerBack(token);
          }
          case EXCHANGE -> {
            giveFormerBack(token);
            step = giveBack(call, token, thisOne, Delivery::putBack);
          }
          case DROP -> step = giveBack(call, token, thisOne, Delivery::remove);
          case LOST -> {
            token.gone(lost(token, "somebody else had it"));
            return Answer.ABSENT;
          }
        }
      } else if (given) {
        return Answer.OK;
      } else {
        given = true;
        step = giveBack(call, token, thisOne, Delivery::putBack);
      }
      if (step != Answer.OK) {
        return step;
      }
    }
    token.gone(lost(token, "others took it while it was verified"));
    return Answer.ABSENT;
  }

  private static LossReason lost(HeldToken token, String why) {
    return new LossReason(
        Cause.REVOKED,
        "RabbitMQ has given the token of queue %s away: %s".formatted(token.queue(), why));
  }

  /** How a message is answered. */
  private interface Answering {
    void of(Delivery message) throws IOException;
  }

  /** Gives what is held back, so that the next message comes. */
  private Answer giveBack(Call call, HeldToken token, boolean thisOne, Answering answering) {
    Hand hand = token.hand();
    if (!hand.keeps()) {
      return takeOver(call, token, thisOne);
    }
    InHand held = token.giveBack(hand);
    if (held == null) {
      return Answer.ABSENT;
    }
    try {
      answering.of(held.message());
      return Answer.OK;
    } catch (IOException | ShutdownSignalException e) {
      // Of a channel that was closed the token hears by itself, and so does the session of its end.
      log.debug("A token of queue {} could not be verified", token.queue(), e);
      return Answer.NONE;
    }
  }

  /**
   * Has the next message come to a consumer that goes before all others. What is held is kept for so long
   * until that is known: a message that is no token could have come instead, and while it is removed, a
   * token that was given back could go to another.
   */
  private Answer takeOver(Call call, HeldToken token, boolean thisOne) {
    String step = "consume tokens from queue " + token.queue();
    Loan loan = channels.lendInExchange(call, step);
    Hand keeper = tokens.keeper(token, loan);
    if (token.giveBack(keeper) == null) {
      channels.giveBack(loan);
      return Answer.ABSENT;
    }
    int priority = thisOne ? TokenQueues.KEEPERS_OF_ONE_PRIORITY : TokenQueues.KEEPERS_PRIORITY;
    Method consume = tokens.consume(token, keeper.tag(), priority);
    Answer answer = Answer.NONE;
    try {
      answer =
          channels.ask(call, step, loan, consume, Reading.NOTHING, late -> tookOver(token, keeper));
    } finally {
      if (answer != Answer.OK) {
        token.revert(keeper);
      }
    }
    return switch (answer) {
      case OK -> {
        tookOver(token, keeper);
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
      case NONE -> Answer.NONE;
    };
  }

  /**
   * The consumer is there. If nobody wants it any more, it is ended here: who released the token meanwhile
   * may have told the broker so before it was asked for.
   */
  private void tookOver(HeldToken token, Hand keeper) {
    if (token.state().phase().isFinal() || !token.hand().equals(keeper)) {
      tokens.putBack(keeper, null);
    }
  }

  /** The queue had nothing for the new consumer when it answers this: then what was held is given back. */
  private Answer nothingElseCame(Call call, HeldToken token) {
    Idle idle = idle(call, token);
    if (idle == Idle.NO_QUEUE) {
      return token.isGone() ? Answer.ABSENT : absent(token);
    }
    if (idle == Idle.UNKNOWN) {
      return Answer.NONE;
    }
    // What is idle comes to the consumer that goes before all others, if a moment later.
    if (idle == Idle.SOME && came(token, Math.min(SOON, call.remainingNanos()))) {
      return Answer.OK;
    }
    if (token.state().message() == null) {
      giveFormerBack(token);
    }
    return Answer.OK;
  }

  private void giveFormerBack(HeldToken token) {
    InHand former = token.takeFormer();
    if (former != null) {
      tokens.putBack(former.hand(), former.message());
    }
  }

  private static Answer absent(HeldToken token) {
    token.gone(new LossReason(Cause.REVOKED, "queue " + token.queue() + " was deleted"));
    return Answer.ABSENT;
  }

  /** Waits for what was given back. */
  private Answer comesBack(Call call, HeldToken token) {
    if (came(token, Math.min(SOON, call.remainingNanos()))) {
      return Answer.OK;
    }
    // Half of the time is left for what is on its way in here.
    Answer answer = askForIt(call.half(), token);
    if (answer == Answer.ABSENT) {
      return token.isGone() ? answer : absent(token);
    }
    if (came(token, answer == Answer.OK ? Math.min(LONGEST_IN_HERE, call.remainingNanos()) : 0)) {
      return Answer.OK;
    }
    if (answer == Answer.OK) {
      token.gone(lost(token, "it did not come back when it was verified"));
      return Answer.ABSENT;
    }
    return Answer.NONE;
  }

  private static boolean came(HeldToken token, long nanos) {
    try {
      Futures.await(token.coming(), nanos);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What comes back has come here when this is answered. */
  private Answer askForIt(Call call, HeldToken token) {
    Idle idle = idle(call, token);
    return switch (idle) {
      case NO_QUEUE -> Answer.ABSENT;
      case UNKNOWN -> Answer.NONE;
      case SOME, NONE -> ask(call, token, NOTHING_NEW, Reading.NOTHING);
    };
  }

  /**
   * Whether the queue has tokens that nobody holds: asked on the token's own channel by a get, which of a
   * quorum queue its majority answers. What it gets goes back at once.
   */
  Idle idle(Call call, HeldToken token) {
    AtomicBoolean some = new AtomicBoolean();
    Answer answer =
        ask(
            call,
            token,
            get(token.queue()),
            (channel, reply) -> {
              Delivery got = Delivery.got(channel, reply);
              if (got != null) {
                some.set(true);
                got.putBack();
              }
            });
    return switch (answer) {
      case OK -> some.get() ? Idle.SOME : Idle.NONE;
      case ABSENT, LOCKED -> Idle.NO_QUEUE;
      case NONE -> Idle.UNKNOWN;
    };
  }

  private Answer ask(Call call, HeldToken token, Method question, Reading reading) {
    Optional<Loan> shared = channels.share(token.hand().loan());
    if (shared.isEmpty()) {
      return token.state().phase().isFinal() ? Answer.ABSENT : Answer.NONE;
    }
    Loan loan = shared.get();
    Answer answer = Answer.ABSENT;
    try {
      answer =
          channels.ask(
              call,
              "look for token queue " + token.queue(),
              loan,
              question,
              reading,
              late -> channels.giveBack(loan));
      return answer;
    } finally {
      if (answer != Answer.NONE) {
        channels.giveBack(loan);
      }
    }
  }

  static Method get(String queue) {
    return new Basic.Get.Builder().queue(queue).build();
  }
}
