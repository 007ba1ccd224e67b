package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A token of this session: first waited for, then, once its message has come, held for as long as the
 * message is neither answered nor its channel closed. There is no acknowledging it. To verify it, it is
 * given back to oneself: then another message comes, of the same token or of another one.
 *
 * <p>Concurrency: all there is to know is one immutable {@link State} in an atomic reference. Messages
 * that come, the broker's word that it is over, a verification, and whoever gives the token back race to
 * change it; each change is a pure function applied by compare-and-set, and the one whose change took a
 * message out of the state answers that message, once. A message that comes and was not asked for says
 * that the broker had given the token away: it goes back, and the token is lost. The end, if it was not
 * ours, is one future that is completed once. Verifications take turns.
 */
public final class HeldToken {

  private static final Logger log = LoggerFactory.getLogger(HeldToken.class);

  /** Where a token is. */
  enum Phase {
    /** Not here yet. */
    WAITING,
    /** Held. */
    HERE,
    /** Given back to come back. */
    RETURNED,
    /** Nobody wants it any more; what comes goes back. */
    LEFT,
    /** The broker took it away. */
    GONE;

    boolean isFinal() {
      return this == LEFT || this == GONE;
    }
  }

  /** A message, and the hand that it is in. */
  record InHand(Hand hand, Delivery message) {}

  /**
   * All that is known.
   *
   * @param hand what it is in, or will come into
   * @param message that is in it
   * @param former what it was in before, if that was not given back yet
   */
  record State(Phase phase, Hand hand, @Nullable Delivery message, @Nullable InHand former) {

    State came(Hand into, Delivery next) {
      boolean awaited = phase == Phase.WAITING || phase == Phase.RETURNED;
      return awaited && hand.equals(into) ? new State(Phase.HERE, hand, next, former) : this;
    }

    /** Its message is about to be given back, so that one comes into that hand. */
    State returned(Hand next) {
      if (phase != Phase.HERE || message == null) {
        return this;
      }
      boolean same = hand.equals(next);
      return new State(Phase.RETURNED, next, null, same ? former : new InHand(hand, message));
    }

    /** Nothing will come into that hand, and what was in the former one is there still. */
    State reverted(Hand failed) {
      return phase == Phase.RETURNED && hand.equals(failed) && former != null
          ? new State(Phase.HERE, former.hand, former.message, null)
          : this;
    }

    State withoutFormer() {
      return new State(phase, hand, message, null);
    }

    State ended(Phase end) {
      return phase.isFinal() ? this : new State(end, hand, message, former);
    }
  }

  private final String queue;
  private final boolean classic;
  private final AtomicReference<State> state;
  private final CompletableFuture<LossReason> gone = new CompletableFuture<>();
  private final Semaphore turn = new Semaphore(1);
  private volatile CompletableFuture<Void> coming = new CompletableFuture<>();
  private volatile @Nullable Delivery judged;

  /**
   * Waited for on that channel.
   *
   * @param classic whether the queue is a classic one
   * @param tag the consumer's, or empty if the message is asked for
   */
  HeldToken(String queue, boolean classic, String tag, Loan channel) {
    this.queue = queue;
    this.classic = classic;
    Hand first = new Hand(this, tag, channel, false);
    state = new AtomicReference<>(new State(Phase.WAITING, first, null, null));
    channel.carry(first);
  }

  String queue() {
    return queue;
  }

  boolean isClassic() {
    return classic;
  }

  State state() {
    return state.get();
  }

  /** What it is in now, or will come into. */
  Hand hand() {
    return state.get().hand;
  }

  /** A message came into that hand. */
  void delivered(Hand hand, Delivery message) throws IOException {
    State was = state.getAndUpdate(now -> now.came(hand, message));
    if (!was.equals(was.came(hand, message))) {
      coming.complete(null);
      return;
    }
    if (!was.phase.isFinal() && concerns(hand)) {
      // First, or it would be sent to the same consumer again.
      hand.cancel();
      message.putBack();
      gone(
          new LossReason(
              Cause.REVOKED,
              "RabbitMQ sent a second token of queue %s to the holder of one, so it had given that away"
                  .formatted(queue)));
      return;
    }
    message.putBack();
  }

  /** The broker ended the consumer there. Over at once, whatever the reason was. */
  void cancelled(Hand hand) {
    if (concerns(hand)) {
      gone(
          new LossReason(
              Cause.REVOKED,
              ("RabbitMQ ended the consumer that held a token of queue %s: the queue was deleted, or"
                      + " its process or node went down, or consumer_timeout was over")
                  .formatted(queue)));
    }
  }

  /** The channel of that hand is closed. */
  void closed(Hand hand, ShutdownSignalException cause) {
    if (cause.isHardError() || !concerns(hand)) {
      // With the connection goes the session, and it tells its members by itself.
      return;
    }
    String why = BrokerErrors.text(cause);
    gone(
        BrokerErrors.isHeldTooLong(cause)
            ? new LossReason(Cause.HELD_TOO_LONG, why)
            : new LossReason(
                Cause.REVOKED,
                "RabbitMQ closed the channel that held a token of queue %s: %s"
                    .formatted(queue, why)));
  }

  private boolean concerns(Hand hand) {
    State now = state.get();
    return now.hand.equals(hand) || (now.former != null && now.former.hand.equals(hand));
  }

  /** The broker ended it. */
  void gone(LossReason reason) {
    if (!end(Phase.GONE).phase.isFinal()) {
      log.debug("A token of queue {} is gone: {}", queue, reason);
      gone.complete(reason);
      coming.complete(null);
    }
  }

  /** Nobody wants it any more; what it was before, which is final if it had ended. */
  State leave() {
    State was = end(Phase.LEFT);
    coming.complete(null);
    return was;
  }

  private State end(Phase end) {
    return state.getAndUpdate(now -> now.ended(end));
  }

  /** Waits for the turn to verify it; false if another has it for too long. Then {@link #turned}. */
  boolean turn(long nanos) {
    boolean interrupted = false;
    long end = System.nanoTime() + nanos;
    try {
      while (true) {
        try {
          return turn.tryAcquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  void turned() {
    turn.release();
  }

  /** What of it comes next; for who has the turn. */
  CompletableFuture<Void> coming() {
    return coming;
  }

  /**
   * Its message is about to be given back, and the next shall come into that hand; for who has the turn.
   *
   * @return the message to give back; empty if it is not held any more
   */
  @Nullable InHand giveBack(Hand next) {
    coming = new CompletableFuture<>();
    State was = change(now -> now.returned(next));
    return was.phase == Phase.HERE && was.message != null
        ? new InHand(was.hand, was.message)
        : null;
  }

  /** Nothing will come into that hand. */
  void revert(Hand failed) {
    State unused = change(now -> now.reverted(failed));
  }

  /** What is left to be given back of the hand before; for one caller only. */
  @Nullable InHand takeFormer() {
    return change(State::withoutFormer).former;
  }

  private State change(UnaryOperator<State> how) {
    return state.getAndUpdate(how);
  }

  /** Whether its message is here. */
  public boolean isHere() {
    return state.get().phase == Phase.HERE;
  }

  /** Its message, which must have come. */
  Delivery message() {
    Delivery message = state.get().message;
    if (message == null) {
      throw new IllegalStateException("no token of queue " + queue + " has come yet");
    }
    return message;
  }

  /** Whether this message was found to be a token of ours. */
  boolean isJudged(Delivery message) {
    return message.equals(judged);
  }

  /** The message that is here was found to be a token of ours. */
  public void approve() {
    judged = state.get().message;
  }

  /** What the message says. */
  public String content() {
    return message().content();
  }

  /** How often it was taken and put back before, if the queue counts that. */
  public long returns() {
    return message().returns();
  }

  /** Whether the broker ended it, as far as this process was told. */
  public boolean isGone() {
    return gone.isDone();
  }

  /** Calls when the broker ends it, or now if it has, on any thread; must not block. */
  public void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** How the broker ended it. */
  public LossReason loss() {
    return gone.getNow(new LossReason(Cause.REVOKED, "queue " + queue + " was deleted"));
  }
}
