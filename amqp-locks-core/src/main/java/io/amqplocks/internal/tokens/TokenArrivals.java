package io.amqplocks.internal.tokens;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Method;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.Rpc.Reading;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Waits for messages that a queue sends to a token's receiver, and finds out whether one is still
 * to come. Two requests on the receiver's channel say that. The queue answers the first one. The
 * channel answers the second one after it has passed on what the queue had sent by then. A message
 * that has arrived in this process may still be on its way to the receiver, and is waited for.
 *
 * <p>Concurrency: a channel has a second owner while a request is open on it. The methods may be
 * called by any thread that has the turn to verify the token, or that is the only one to know it.
 */
final class TokenArrivals {

  /** How long a token may be under way that was idle when a consumer was created. */
  static final long AT_ONCE = Duration.ofMillis(2).toNanos();

  /**
   * How long a verification waits at least before it asks the queue whether a token comes at all. A
   * token that comes within that time counts as the holder's own. If the holder had lost it, it
   * would be one that another holder gave back just then.
   */
  static final long USUAL = Duration.ofMillis(20).toNanos();

  /** How long a token may be away before its lease is in doubt. */
  static final long SOON = Duration.ofMillis(100).toNanos();

  /** How long a message may be on its way inside this process. */
  static final long LONGEST_IN_HERE = Duration.ofMillis(500).toNanos();

  /**
   * How long a token is awaited before it is given up. Another client that takes its own token over
   * may have received this one. It gives it back as soon as it sees it, or after {@link
   * #LONGEST_IN_HERE}.
   */
  static final long LONGEST_ELSEWHERE = 2 * LONGEST_IN_HERE;

  /** The pause between two looks at what is on its way inside this process. */
  private static final long A_MOMENT = Duration.ofMillis(1).toNanos();

  private static final Method NOTHING_NEW = new Basic.Qos.Builder().prefetchCount(1).build();

  private final ConsumerChannelPool channels;

  /** Whether the queue has idle tokens. */
  enum Idle {
    /** At least one token is idle. */
    SOME,
    /** No token is idle. */
    NONE,
    /** There is no such queue, or the channel is closed. */
    NO_QUEUE,
    /** The broker did not reply. */
    UNKNOWN
  }

  TokenArrivals(ConsumerChannelPool channels) {
    this.channels = channels;
  }

  /**
   * Waits for what the queue has for a new consumer.
   *
   * @return SOME if it has come, or else why it will not
   */
  Idle comes(Call call, HeldToken token) {
    return came(token, Math.min(AT_ONCE, call.remainingNanos()))
        ? Idle.SOME
        : comesStill(call, token);
  }

  /**
   * As {@link #comes}, for a consumer that has had some time.
   *
   * @return UNKNOWN also if a message is still under way
   */
  Idle comesStill(Call call, HeldToken token) {
    Idle idle = idle(call, token);
    if (idle == Idle.NO_QUEUE) {
      return idle;
    }
    if (idle == Idle.UNKNOWN || ask(call, token, NOTHING_NEW, Reading.NOTHING) != Answer.OK) {
      return Idle.UNKNOWN;
    }
    // An idle one is sent to a consumer a moment later.
    if (idle == Idle.SOME && came(token, Math.min(SOON, call.remainingNanos()))) {
      return Idle.SOME;
    }
    return lastLook(call, token);
  }

  /**
   * What to believe of a receiver that was waited for in vain. A message that is under way inside
   * this process will arrive, however long a busy machine takes to pass it on. So nothing is proven
   * while there is one.
   *
   * @return SOME if one came at last; UNKNOWN if one is still under way; else NONE
   */
  static Idle lastLook(Call call, HeldToken token) {
    // In this order: what is no longer under way has arrived.
    boolean underWay = token.receiver().loan().isReceiving();
    if (underWay && came(token, Math.min(LONGEST_IN_HERE, call.remainingNanos()))) {
      return Idle.SOME;
    }
    underWay = token.receiver().loan().isReceiving();
    if (came(token, 0)) {
      return Idle.SOME;
    }
    return underWay ? Idle.UNKNOWN : Idle.NONE;
  }

  /** Waits for the next message; false if it did not arrive in that time. */
  static boolean came(HeldToken token, long nanos) {
    try {
      Futures.await(token.coming(), nanos);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Asks the queue and then the channel. A message that comes back has reached this process before
   * the second reply.
   */
  Answer askForIt(Call call, HeldToken token) {
    Idle idle = idle(call, token);
    return switch (idle) {
      case NO_QUEUE -> Answer.ABSENT;
      case UNKNOWN -> Answer.TIMED_OUT;
      case SOME, NONE -> ask(call, token, NOTHING_NEW, Reading.NOTHING);
    };
  }

  /**
   * Whether the queue has idle tokens. The request is a get on the token's own channel, which the
   * majority of a quorum queue answers. A message that it returns goes back at once, or is removed
   * if it cannot be a token.
   */
  private Idle idle(Call call, HeldToken token) {
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
                token.queueRef().putBack(got);
              }
            });
    return switch (answer) {
      case OK -> some.get() ? Idle.SOME : Idle.NONE;
      case ABSENT, LOCKED -> Idle.NO_QUEUE;
      case TIMED_OUT -> Idle.UNKNOWN;
    };
  }

  /**
   * Whether others' tokens are idle, which shows that the queue still counts the holder's token as
   * checked out to the holder's consumer: that consumer has room for one message, and is sent an
   * idle one as soon as the queue has taken its own away. Such a message may be on its way when the
   * queue says that it has idle ones. So the channel is asked too, which passes on first what the
   * queue had sent, and a message that is under way inside this process is waited for. If there was
   * one, the token is gone when this returns.
   *
   * @return UNKNOWN also if a message is still under way
   */
  Idle idleBesides(Call call, HeldToken token) {
    Idle idle = idle(call, token);
    if (idle != Idle.SOME) {
      return idle;
    }
    boolean answered = ask(call, token, NOTHING_NEW, Reading.NOTHING) == Answer.OK;
    return answered && hasReceived(call, token) ? Idle.SOME : Idle.UNKNOWN;
  }

  /** Waits until no message is under way inside this process; false if one still is. */
  private static boolean hasReceived(Call call, HeldToken token) {
    BorrowedChannel loan = token.receiver().loan();
    long end = call.ticker().nanos() + Math.min(LONGEST_IN_HERE, call.remainingNanos());
    while (!token.isGone() && loan.isReceiving()) {
      if (end - call.ticker().nanos() <= 0) {
        return false;
      }
      Futures.pause(A_MOMENT);
    }
    return true;
  }

  private Answer ask(Call call, HeldToken token, Method request, Reading reading) {
    Optional<BorrowedChannel> shared = channels.share(token.receiver().loan());
    if (shared.isEmpty()) {
      return token.state().phase().isFinal() ? Answer.ABSENT : Answer.TIMED_OUT;
    }
    BorrowedChannel loan = shared.get();
    Answer answer = Answer.ABSENT;
    try {
      answer =
          channels.ask(
              call,
              "look for token queue " + token.queue(),
              loan,
              request,
              reading,
              late -> channels.giveBack(loan));
      return answer;
    } finally {
      if (answer != Answer.TIMED_OUT) {
        channels.giveBack(loan);
      }
    }
  }

  static Method get(String queue) {
    return new Basic.Get.Builder().queue(queue).build();
  }
}
