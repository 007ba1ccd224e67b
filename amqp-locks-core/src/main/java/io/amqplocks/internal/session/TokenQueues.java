package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.io.IOException;
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

  private static final Logger log = LoggerFactory.getLogger(TokenQueues.class);

  private final DeliveryChannels channels;
  private final TokenFate fate;
  private final TokenLook looks;
  private final AtomicLong lastTag = new AtomicLong();

  TokenQueues(DeliveryChannels channels, TokenFate fate) {
    this.channels = channels;
    this.fate = fate;
    looks = new TokenLook(channels);
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
   * @throws LockException.Unanswered if the broker did not say in time; what comes later goes back
   */
  public Take take(Call call, String queue) {
    String step = "get a token from queue " + queue;
    HeldToken token = prepare(call, step, queue, "", () -> {});
    Answer answer =
        channels.ask(
            call, step, token.channel(), TokenLook.get(queue), reading(token), late -> undo(token));
    switch (answer) {
      case OK -> {
        if (token.isHere()) {
          return new Take(Take.Outcome.TAKEN, token);
        }
        channels.giveBack(token.channel());
        return Take.NONE_IDLE;
      }
      case ABSENT -> {
        channels.giveBack(token.channel());
        return Take.NO_QUEUE;
      }
      case LOCKED -> {
        channels.giveBack(token.channel());
        throw locked(call, queue);
      }
      default -> throw call.unanswered(step);
    }
  }

  /**
   * Waits for a token, by a consumer that the broker gives at most one.
   *
   * @param priority of all who wait those with the highest are served first
   * @param arrived is called when it has come, or never will; must not block
   * @return what will be held, to be {@link #release}d in any case; empty if there is no such queue
   */
  public Optional<HeldToken> await(Call call, String queue, int priority, Runnable arrived) {
    String step = "consume tokens from queue " + queue;
    HeldToken token = prepare(call, step, queue, "wait-" + lastTag.incrementAndGet(), arrived);
    Method consume =
        new Basic.Consume.Builder()
            .queue(queue)
            .consumerTag(token.tag())
            .arguments(priority == 0 ? Map.of() : Map.of("x-priority", priority))
            .build();
    Answer answer =
        channels.ask(call, step, token.channel(), consume, Reading.NOTHING, late -> release(token));
    return switch (answer) {
      case OK -> Optional.of(token);
      case ABSENT -> {
        channels.giveBack(token.channel());
        yield Optional.empty();
      }
      case LOCKED -> {
        channels.giveBack(token.channel());
        throw locked(call, queue);
      }
      case NONE -> {
        token.leave();
        throw call.unanswered(step);
      }
    };
  }

  private HeldToken prepare(Call call, String step, String queue, String tag, Runnable arrived) {
    DeliveryChannel channel = channels.lend(call, step);
    LockId lock = call.lock();
    HeldToken token =
        new HeldToken(queue, tag, channel, arrived, ended -> fate.tellLater(lock, ended));
    channel.carry(token);
    return token;
  }

  private static Reading reading(HeldToken token) {
    return (channel, reply) -> {
      Delivery got = TokenLook.got(channel, reply);
      if (got != null) {
        token.delivered(got);
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

  private static LockException locked(Call call, String queue) {
    return new LockException.Conflict(
        "The queue %s cannot keep the tokens of %s: it is another connection's own; delete it and create"
                .formatted(queue, call.lock())
            + " the lock anew");
  }

  /**
   * Gives the token back, or stops waiting for it. Never throws, and waits for nothing: the broker is
   * told, and works it off before anything that comes after it on the same channel, which is the one
   * that this session uses next.
   */
  public void release(HeldToken token) {
    boolean came = !token.leave() && token.isHere();
    try {
      // First, or its message would be sent to the same consumer again.
      token.channel().cancel(token.tag());
      if (came) {
        token.delivery().putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      // The channel or the connection is gone, and the broker has the token back.
      log.debug("A token of queue {} went back with its channel", token.queue());
    }
    giveBack(token);
  }

  /** Takes a message out of the queue that is no token. */
  public void drop(HeldToken stray) {
    try {
      stray.channel().cancel(stray.tag());
      stray.delivery().remove();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("A stray message stays in queue {}", stray.queue());
    }
    giveBack(stray);
  }

  private void giveBack(HeldToken token) {
    if (token.isGone()) {
      channels.discard(token.channel());
    } else {
      channels.giveBack(token.channel());
    }
  }

  /** As {@link TokenLook#at}. */
  public Answer look(Call call, HeldToken token, boolean byMajority) {
    return looks.at(call, token, byMajority);
  }

  /** Whether the queue is there, asked on the side; as good as any other sign of life. */
  public boolean exists(Call call, String queue) {
    return fate.exists(call, queue);
  }
}
