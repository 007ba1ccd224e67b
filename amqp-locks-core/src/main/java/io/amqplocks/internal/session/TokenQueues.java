package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.HeldToken.InHand;
import io.amqplocks.internal.session.HeldToken.Phase;
import io.amqplocks.internal.session.HeldToken.State;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens of one session: to have received a message of a token queue without answering it is to hold
 * a slot. Taking is a basic.get, which buffers nothing; waiting is a consumer that may have one message;
 * giving back is a nack. Nobody who holds ever acknowledges: that would destroy the token.
 *
 * <p>Concurrency: a token has a channel to itself from the first request to the last answer. What comes
 * too late, for a call that timed out or a waiter that left, goes back at once.
 */
public final class TokenQueues {

  /** Above all users' priorities, and above an administrator's: what is verified is not for others. */
  static final int KEEPERS_PRIORITY = 1_000_000;

  /** Of who can make use of no other token. */
  static final int KEEPERS_OF_ONE_PRIORITY = KEEPERS_PRIORITY + 1;

  private static final Logger log = LoggerFactory.getLogger(TokenQueues.class);

  private final DeliveryChannels channels;
  private final Server server;
  private final TokenProof proof;
  private final AtomicLong lastTag = new AtomicLong();

  TokenQueues(DeliveryChannels channels, Server server) {
    this.channels = channels;
    this.server = server;
    proof = new TokenProof(channels, this);
  }

  /**
   * What came of trying to take a token.
   *
   * @param outcome whether there was one
   * @param token the token that was taken
   */
  public record Take(Outcome outcome, @Nullable HeldToken token) {

    /** Whether there was a token. */
    public enum Outcome {
      /** It is ours. */
      TAKEN,
      /** The queue has none now. */
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
   * @param classic whether it is a classic queue for sure
   * @throws LockException.Unanswered if the broker did not say in time; what comes later goes back
   */
  public Take take(Call call, String queue, boolean classic) {
    String step = "get a token from queue " + queue;
    Loan channel = channels.lend(call, step);
    HeldToken token = new HeldToken(queue, classic, "", channel);
    Answer answer =
        channels.ask(
            call, step, channel, TokenProof.get(queue), reading(token), late -> undo(token));
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
        throw locked(call, queue);
      }
      default -> throw call.unanswered(step);
    }
  }

  /**
   * Waits for a token, by a consumer that the broker gives at most one.
   *
   * @param classic whether it is a classic queue for sure
   * @param priority of all who wait those with the highest are served first
   * @param arrived is called when it has come, or never will; must not block
   * @return to be closed in any case; empty if there is no such queue
   */
  public Optional<TokenSubscription> await(
      Call call, String queue, boolean classic, int priority, Runnable arrived) {
    String step = "consume tokens from queue " + queue;
    Loan channel = channels.lend(call, step);
    String tag = "wait-" + lastTag.incrementAndGet();
    HeldToken token = new HeldToken(queue, classic, tag, channel);
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
        throw locked(call, queue);
      }
      case NONE -> {
        State left = token.leave();
        log.debug("Nobody waits for a token of queue {} any more ({})", queue, left.phase());
        throw call.unanswered(step);
      }
    };
  }

  /** A hand whose consumer goes before all others of the queue. */
  Hand keeper(HeldToken token, Loan channel) {
    Hand keeper = new Hand(token, "keep-" + lastTag.incrementAndGet(), channel, true);
    channel.carry(keeper);
    return keeper;
  }

  /**
   * Up to 3.13 a channel whose classic queue's process dies consumes the new one's messages without a
   * word, and then answers messages of the new by the numbers of the old, which may be another's. It is
   * told not to: then it says that the consumer ended.
   */
  Method consume(HeldToken token, String tag, int priority) {
    Map<String, Object> arguments = new HashMap<>();
    if (priority != 0) {
      arguments.put("x-priority", priority);
    }
    if (token.isClassic() && server.major() < 4) {
      arguments.put("x-cancel-on-ha-failover", true);
    }
    return new Basic.Consume.Builder()
        .queue(token.queue())
        .consumerTag(tag)
        .arguments(arguments)
        .build();
  }

  private static Reading reading(HeldToken token) {
    return (channel, reply) -> {
      Delivery got = Delivery.got(channel, reply);
      if (got != null) {
        token.delivered(token.hand(), got);
      }
    };
  }

  /** The get that nobody waits for any more was answered after all. */
  private void undo(HeldToken token) {
    if (token.isHere()) {
      log.info("A token of queue {} came too late; it goes back", token.queue());
    }
    release(token);
  }

  /** The consume that nobody waits for any more was answered after all. */
  private void abandon(HeldToken token) {
    Hand hand = token.hand();
    hand.cancel();
    channels.giveBack(hand.loan());
  }

  static LockException locked(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot keep the tokens of %s: it is another connection's own; delete it and create"
                .formatted(queue, call.lock())
            + " the lock anew");
  }

  /**
   * Gives the token back, or stops waiting for it. Never throws, and waits for nothing: the broker is
   * told, and works it off before anything that comes after it on the same channel, which is the one
   * that this session uses next. Once; later calls do nothing.
   */
  public void release(HeldToken token) {
    State was = token.leave();
    if (was.phase() == Phase.LEFT) {
      return;
    }
    if (was.phase() == Phase.GONE) {
      discard(token);
      return;
    }
    InHand former = token.takeFormer();
    if (former != null) {
      putBack(former.hand(), former.message());
    }
    putBack(was.hand(), was.message());
  }

  /**
   * Closes the channels of a token that is gone, which gives back what is there still. A nack could meet
   * another's: what the number of a message means, a queue that was started anew knows no more.
   */
  void discard(HeldToken token) {
    State last = token.state();
    InHand former = last.former();
    if (former != null) {
      channels.discard(former.hand().loan());
    }
    channels.discard(last.hand().loan());
  }

  /** Gives the message back, if there is one, for anybody, and the hand's channel. */
  void putBack(Hand hand, @Nullable Delivery message) {
    // First, or the message would be sent to the same consumer again.
    hand.cancel();
    try {
      if (message != null) {
        message.putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      // The channel or the connection is gone, and the broker has the token back.
      log.debug("A token went back with its channel: {}", BrokerErrors.text(e));
    }
    channels.giveBack(hand.loan());
  }

  /** Takes a message out of the queue that is no token. */
  public void drop(HeldToken stray) {
    State was = stray.leave();
    Delivery message = was.message();
    if (was.phase() != Phase.HERE || message == null) {
      return;
    }
    was.hand().cancel();
    try {
      message.remove();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A stray message stays in queue {}", stray.queue());
    }
    channels.giveBack(was.hand().loan());
  }

  /** As {@link TokenProof#of}. */
  public Answer verify(Call call, HeldToken token, boolean thisOne, TokenJudge judge) {
    return proof.of(call, token, thisOne, judge);
  }

  /** As {@link TokenProof#idle}. */
  public TokenProof.Idle idle(Call call, HeldToken token) {
    return proof.idle(call, token);
  }

  /** Whether the queue is there, asked on the side; as good as any other sign of life. */
  public boolean exists(Call call, String queue) {
    String step = "look for token queue " + queue;
    Answer answer =
        channels.questions().ask(call, step, QueueArguments.passive(queue), LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    return answer != Answer.ABSENT;
  }
}
