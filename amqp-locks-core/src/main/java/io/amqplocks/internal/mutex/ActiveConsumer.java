package io.amqplocks.internal.mutex;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.ChannelListener;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer of a mutex's queue. RabbitMQ sends messages to one of the queue's consumers only, the
 * active one, until that consumer ends. So the consumer that has received a message holds the
 * mutex. It has room for one message and never acknowledges it.
 *
 * <p>To verify, the holder requeues the message. The broker sends it again to the active consumer,
 * and to nobody else. So a message that comes back proves that the consumer is still active.
 *
 * <p>Concurrency: the whole state is one immutable {@link State} in an atomic reference. Arriving
 * messages, the broker's notification of an end, a verification and a release race to change it.
 * Each change is a pure function applied by compare-and-set. The party whose change took a message
 * out of the state answers that message, once. A consumer has room for one message, so a second one
 * shows that the broker has requeued the first by itself, and the mutex is lost.
 */
final class ActiveConsumer implements ChannelListener {

  private static final Logger log = LoggerFactory.getLogger(ActiveConsumer.class);

  /** The phases of a consumer. */
  enum Phase {
    /** Another consumer may be the active one. */
    STANDING_BY,
    /** A message is here, so this consumer is the active one. */
    ACTIVE,
    /** The message was requeued for a verification and is expected again. */
    REQUEUED,
    /** The consumer was cancelled by this side; messages that still arrive go back. */
    CANCELLED,
    /** The broker ended it. */
    GONE;

    boolean isFinal() {
      return this == CANCELLED || this == GONE;
    }

    boolean isExpecting() {
      return this == STANDING_BY || this == REQUEUED;
    }
  }

  /**
   * The whole state of a consumer.
   *
   * @param phase the phase
   * @param message the message that is here
   * @param arrival completed when the message that is here or expected arrives, or never will
   */
  record State(Phase phase, @Nullable Delivery message, CompletableFuture<Void> arrival) {

    static State first() {
      return new State(Phase.STANDING_BY, null, new CompletableFuture<>());
    }

    State received(Delivery next) {
      return phase.isExpecting() ? new State(Phase.ACTIVE, next, arrival) : this;
    }

    State requeued() {
      return phase == Phase.ACTIVE
          ? new State(Phase.REQUEUED, null, new CompletableFuture<>())
          : this;
    }

    State ended(Phase end) {
      return phase.isFinal() ? this : new State(end, message, arrival);
    }
  }

  private final String queue;
  private final String tag;
  private final BorrowedChannel channel;
  private final AtomicReference<State> state = new AtomicReference<>(State.first());
  private final CompletableFuture<LossReason> gone = new CompletableFuture<>();
  private volatile boolean proven;

  /**
   * Creates the consumer, which is not known to the broker yet.
   *
   * @param arrived is called when the first message has arrived or never will; must not block
   */
  ActiveConsumer(String queue, String tag, BorrowedChannel channel, Runnable arrived) {
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
    var unused = state.get().arrival.thenRun(arrived);
    channel.listen(this);
  }

  String queue() {
    return queue;
  }

  @Override
  public String tag() {
    return tag;
  }

  BorrowedChannel channel() {
    return channel;
  }

  @Override
  public void delivered(Delivery message) throws IOException {
    State was = change(now -> now.received(message));
    if (was.phase.isExpecting()) {
      was.arrival.complete(null);
      return;
    }
    if (!was.phase.isFinal()) {
      gone(
          new LossReason(
              Cause.REVOKED,
              "RabbitMQ sent a second message of queue %s, so it had taken the first one back"
                  .formatted(queue)));
      // Requeued by the close of its channel: by a nack it would be sent here again.
      return;
    }
    message.putBack();
  }

  @Override
  public void cancelled() {
    gone(
        new LossReason(
            Cause.REVOKED,
            ("RabbitMQ ended the consumer that held queue %s: the queue was deleted, or its process or"
                    + " node went down")
                .formatted(queue)));
  }

  /** If the connection closed, the session ends too, and notifies its members itself. */
  @Override
  public void closed(ShutdownSignalException cause) {
    if (cause.isHardError()) {
      return;
    }
    String why =
        "RabbitMQ closed the channel that consumed queue %s: %s"
            .formatted(queue, BrokerErrors.text(cause));
    gone(
        new LossReason(
            BrokerErrors.isHeldTooLong(cause) ? Cause.HELD_TOO_LONG : Cause.REVOKED, why));
  }

  /** The broker ended the consumer, or another consumer is the active one. */
  void gone(LossReason reason) {
    State was = change(now -> now.ended(Phase.GONE));
    if (!was.phase.isFinal()) {
      log.debug("The consumer of queue {} is gone: {}", queue, reason);
      gone.complete(reason);
      was.arrival.complete(null);
    }
  }

  /**
   * Records that this side cancels the consumer.
   *
   * @return the state before; if its phase is final, there is nothing to cancel
   */
  State cancel() {
    State was = change(now -> now.ended(Phase.CANCELLED));
    was.arrival.complete(null);
    return was;
  }

  /**
   * Records that the message is about to be requeued.
   *
   * @return the message to requeue; null if there is none, or another thread requeues it
   */
  @Nullable Delivery requeue() {
    State was = change(State::requeued);
    return was.phase == Phase.ACTIVE ? was.message : null;
  }

  /** It was proven that the queue serves only its active consumer. It stays the same queue. */
  void prove() {
    proven = true;
  }

  boolean isProven() {
    return proven;
  }

  /** Waits until the expected message arrives or never will; false if the time is over. */
  boolean await(long nanos) {
    try {
      Futures.await(state.get().arrival, nanos);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  boolean isActive() {
    return state.get().phase == Phase.ACTIVE;
  }

  /** The id of the message that is here; empty if none is, or if it has none. */
  String messageId() {
    Delivery message = state.get().message;
    return message == null ? "" : message.id();
  }

  boolean isGone() {
    // As the message does: whoever finds that gone finds this too.
    return state.get().phase == Phase.GONE;
  }

  /**
   * Runs the callback when the broker ends the consumer, or now if it has, on any thread. The
   * callback must not block.
   */
  void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** How the broker ended it. */
  LossReason loss() {
    return Futures.imminent(
        isGone(), gone, new LossReason(Cause.REVOKED, "queue " + queue + " was deleted"));
  }

  private State change(UnaryOperator<State> how) {
    return state.getAndUpdate(how);
  }
}
