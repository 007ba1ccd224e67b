package io.amqplocks.internal.tokens;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.TokenArrivals.Idle;
import io.amqplocks.internal.tokens.TokenState.Phase;
import io.amqplocks.internal.tokens.TokenState.ReceivedMessage;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens of one session. To have received a message of a token queue without answering it is to
 * hold a slot. A try is a {@code basic.get}, which buffers nothing. A wait is a consumer with room
 * for one message. A release is a nack. Holders never acknowledge, because that would destroy the
 * token.
 *
 * <p>Concurrency: a token has a channel to itself from the first request to the last reply. A
 * message that arrives too late, for a call that timed out or a waiter that left, goes back at
 * once.
 *
 * <p>The file is above 300 lines because taking, waiting and giving back are one idea: what one of
 * them sends to the broker, another one must undo.
 */
public final class TokenQueues {

  private static final PerSession<TokenQueues> SESSIONS =
      new PerSession<>(session -> new TokenQueues(session.consumerChannels(), session.broker()));

  /**
   * Above the priorities of users and administrators: a token under verification is not for others.
   */
  static final int HOLDERS_PRIORITY = 1_000_000;

  /** The priority of consumers that keep the token that they have, and never wait for another. */
  static final int KEEPERS_PRIORITY = HOLDERS_PRIORITY + 1;

  /** Below all users' priorities. Waiters are served before callers that only try. */
  private static final int TRY_PRIORITY = -1_000_000;

  private static final Logger log = LoggerFactory.getLogger(TokenQueues.class);

  private final ConsumerChannelPool channels;
  private final BrokerProfile broker;
  private final TokenArrivals arrivals;
  private final TokenVerification verification;
  private final AtomicLong lastTag = new AtomicLong();

  /** The token queues of that session. */
  public static TokenQueues of(Session session) {
    return SESSIONS.of(session);
  }

  TokenQueues(ConsumerChannelPool channels, BrokerProfile broker) {
    this.channels = channels;
    this.broker = broker;
    arrivals = new TokenArrivals(channels);
    verification = new TokenVerification(channels, arrivals, this);
  }

  /**
   * The result of trying to take a token.
   *
   * @param outcome whether there was one
   * @param token the token that was taken
   */
  public record Take(Outcome outcome, @Nullable HeldToken token) {

    /** Whether there was a token. */
    public enum Outcome {
      /** The token is ours. */
      TAKEN,
      /** The queue has no idle token now. */
      NONE_IDLE,
      /** There is no such queue. */
      NO_QUEUE
    }

    private static final Take NONE_IDLE = new Take(Outcome.NONE_IDLE, null);
    private static final Take NO_QUEUE = new Take(Outcome.NO_QUEUE, null);
  }

  /**
   * Takes a token if one is idle.
   *
   * @throws LockException.Unanswered if the broker did not reply in time; a late message goes back
   */
  public Take take(Call call, TokenQueueRef queue) {
    String step = "get a token from queue " + queue.queue();
    if (broker.isConnectionClosedByGet() && !exists(call, queue.queue())) {
      return Take.NO_QUEUE;
    }
    BorrowedChannel channel = channels.borrow(call, step, queue.queue());
    HeldToken token = new HeldToken(queue, "", channel, channels::nanos);
    Answer answer =
        channels.ask(
            call,
            step,
            channel,
            TokenArrivals.get(token.queue()),
            reading(token),
            late -> undo(token));
    switch (answer) {
      case OK -> {
        if (token.isHere()) {
          return new Take(Take.Outcome.TAKEN, token);
        }
        channels.giveBack(channel);
        return Take.NONE_IDLE;
      }
      case ABSENT -> {
        channels.giveBack(channel);
        return Take.NO_QUEUE;
      }
      case LOCKED -> {
        channels.giveBack(channel);
        throw locked(call, token.queue());
      }
      default -> throw call.unanswered(step);
    }
  }

  /**
   * Takes a token by a consumer, for a caller that may have to keep this very token. If the queue
   * gave the token away, it would send any idle token to that consumer without a request. That
   * delivery shows the loss. Nobody is notified of the loss of a token that was received by a get.
   */
  public Take takeByConsumer(Call call, TokenQueueRef queue) {
    Optional<TokenSubscription> waiting =
        await(call, queue, TRY_PRIORITY, () -> log.trace("A token arrived"));
    if (waiting.isEmpty()) {
      return Take.NO_QUEUE;
    }
    try (TokenSubscription subscription = waiting.get()) {
      Idle idle = arrivals.comes(call, subscription.token());
      Optional<HeldToken> come = subscription.claim();
      if (come.isPresent()) {
        return new Take(Take.Outcome.TAKEN, come.get());
      }
      if (idle == Idle.UNKNOWN) {
        throw call.unanswered("take a token from queue " + queue.queue());
      }
      // The broker ends a consumer that has just begun because the queue was deleted.
      boolean noQueue = idle == Idle.NO_QUEUE || subscription.token().isGone();
      return noQueue ? Take.NO_QUEUE : Take.NONE_IDLE;
    }
  }

  /**
   * Waits for a token, by a consumer to which the broker sends at most one.
   *
   * @param priority waiters with the highest priority are served first
   * @param arrived is called when the token has arrived, or never will; must not block
   * @return the subscription, to be closed in any case; empty if there is no such queue
   */
  public Optional<TokenSubscription> await(
      Call call, TokenQueueRef queue, int priority, Runnable arrived) {
    String step = "consume tokens from queue " + queue.queue();
    BorrowedChannel channel = channels.borrow(call, step, queue.queue());
    String tag = "wait-" + lastTag.incrementAndGet();
    HeldToken token = new HeldToken(queue, tag, channel, channels::nanos);
    var unused = token.coming().thenRun(arrived);
    Answer answer =
        channels.ask(
            call,
            step,
            channel,
            consume(token, tag, priority),
            Reading.NOTHING,
            late -> abandon(token));
    return switch (answer) {
      case OK -> Optional.of(new TokenSubscription(token, this));
      case ABSENT -> {
        channels.giveBack(channel);
        yield Optional.empty();
      }
      case LOCKED -> {
        channels.giveBack(channel);
        throw locked(call, token.queue());
      }
      case TIMED_OUT -> {
        TokenState left = token.leave();
        log.debug(
            "Nobody waits for a token of queue {} any more ({})", token.queue(), left.phase());
        throw call.unanswered(step);
      }
    };
  }

  /** Creates a receiver whose consumer has the highest priority of the queue. */
  TokenReceiver topPriorityReceiver(HeldToken token, BorrowedChannel channel) {
    TokenReceiver receiver =
        new TokenReceiver(token, "keep-" + lastTag.incrementAndGet(), channel, true);
    channel.listen(receiver);
    return receiver;
  }

  /** The consume for a token. */
  Basic.Consume consume(HeldToken token, String tag, int priority) {
    return new Basic.Consume.Builder()
        .queue(token.queue())
        .consumerTag(tag)
        .arguments(broker.consume(priority, token.queueRef().isClassic()))
        .build();
  }

  private static Reading reading(HeldToken token) {
    return (channel, reply) -> {
      Delivery got = Delivery.got(channel, reply);
      if (got != null) {
        token.delivered(token.receiver(), got);
      }
    };
  }

  /** A late reply to a get that nobody waits for any more. */
  private void undo(HeldToken token) {
    if (token.isHere()) {
      log.info("A token of queue {} came too late; it goes back", token.queue());
    }
    release(token);
  }

  /** A late reply to a consume that nobody waits for any more. */
  private void abandon(HeldToken token) {
    // A token may have arrived with the reply, before the waiter left.
    TokenState unused = token.leave();
    putBack(token.receiver(), token.state().message());
  }

  static LockException locked(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot keep the tokens of %s: it is another connection's own; delete it and create"
                .formatted(queue, call.lock())
            + " the lock anew");
  }

  /**
   * Gives the token back, or stops waiting for it. Never throws, and does not wait. The broker
   * processes the release before all later requests on the same channel, which is the one that this
   * session uses next. Only the first call has an effect.
   */
  public void release(HeldToken token) {
    TokenState was = token.leave();
    if (was.phase() == Phase.LEFT) {
      return;
    }
    if (was.phase() == Phase.GONE) {
      discard(token);
      return;
    }
    ReceivedMessage former = token.takeFormer();
    if (former != null) {
      putBack(former.receiver(), former.message());
    }
    putBack(was.receiver(), was.message());
  }

  /**
   * Closes the channels of a lost token, which gives back the messages that remain. A nack could
   * hit another client's message: a queue whose process was restarted no longer knows what the
   * number of a message meant.
   */
  void discard(HeldToken token) {
    TokenState last = token.state();
    ReceivedMessage former = last.former();
    if (former != null) {
      channels.discard(former.receiver().loan());
    }
    channels.discard(last.receiver().loan());
  }

  /**
   * Gives the message back for any client, if there is one, and gives back the receiver's channel.
   */
  void putBack(TokenReceiver receiver, @Nullable Delivery message) {
    if (message == null) {
      receiver.cancel();
    } else {
      // In this order, or the message would be sent to the same consumer again.
      receiver.cancel(message);
    }
    channels.giveBack(receiver.loan());
  }

  /** Removes a message that is no token from the queue, unless the broker took it away. */
  public void drop(HeldToken stray) {
    TokenState was = stray.leave();
    if (was.phase() == Phase.GONE) {
      discard(stray);
      return;
    }
    Delivery message = was.message();
    if (was.phase() != Phase.HERE || message == null) {
      return;
    }
    was.receiver().cancel();
    try {
      message.remove();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A stray message stays in queue {}", stray.queue());
    }
    channels.giveBack(was.receiver().loan());
  }

  /** Verifies the token, as {@link TokenVerification#of} does. */
  public Answer verify(Call call, HeldToken token, boolean thisOne, ReturnedMessageJudge judge) {
    return verification.of(call, token, thisOne, judge);
  }

  /** Judges what came late, as {@link TokenVerification#judgeLate} does. */
  boolean judgeLate(Call call, HeldToken token, ReturnedMessageJudge judge) {
    return verification.judgeLate(call, token, judge);
  }

  /** Looks for idle tokens, as {@link TokenArrivals#idleBesides} does. */
  Idle idleBesides(Call call, HeldToken token) {
    return arrivals.idleBesides(call, token);
  }

  /**
   * Whether the queue exists, asked on a separate channel. The reply proves the connection as well.
   */
  public boolean exists(Call call, String queue) {
    return channels.rpc().lookUnlessOverdue(call, queue).exists();
  }
}
