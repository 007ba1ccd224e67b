package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A token of this session: first waited for, then, once its message has come, held for as long as the
 * message is neither answered nor its channel closed. There is no acknowledging it.
 *
 * <p>Concurrency: a message that comes and a waiter that leaves race for the stage; whoever is first
 * decides by compare-and-set whether the message stays or goes back at once. The end of a held token, if
 * it was not ours, is one future that is completed once, by whichever thread hears of it first.
 */
public final class HeldToken implements Carried {

  private static final Logger log = LoggerFactory.getLogger(HeldToken.class);

  /** More than {@link TokenFate} takes. */
  private static final Duration LONGEST_FATE = Duration.ofSeconds(1);

  private enum Stage {
    WAITING,
    HERE,
    LEFT
  }

  private final String queue;
  private final String tag;
  private final DeliveryChannel channel;
  private final Runnable arrived;
  private final Consumer<HeldToken> cancelled;
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
  private volatile @Nullable Delivery delivery;
  private volatile boolean ended;
  private final CompletableFuture<LossReason> gone = new CompletableFuture<>();

  /**
   * Waited for on that channel.
   *
   * @param tag the consumer's, or empty if the message is asked for
   * @param arrived is called when it has come, or never will; must not block
   * @param cancelled is called when the broker has ended the consumer; must not block
   */
  HeldToken(
      String queue,
      String tag,
      DeliveryChannel channel,
      Runnable arrived,
      Consumer<HeldToken> cancelled) {
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
    this.arrived = arrived;
    this.cancelled = cancelled;
    var unused = gone.thenRun(arrived);
  }

  String queue() {
    return queue;
  }

  @Override
  public String tag() {
    return tag;
  }

  DeliveryChannel channel() {
    return channel;
  }

  @Override
  public void delivered(Delivery message) throws IOException {
    delivery = message;
    if (stage.compareAndSet(Stage.WAITING, Stage.HERE)) {
      arrived.run();
    } else {
      message.putBack();
    }
  }

  /** Over at once, whatever the reason was. */
  @Override
  public void cancelled() {
    ended = true;
    cancelled.accept(this);
  }

  @Override
  public void closed(ShutdownSignalException cause) {
    String why = BrokerErrors.text(cause);
    if (cause.isHardError()) {
      // With the connection goes the session, and it tells its members by itself.
      return;
    }
    gone(
        BrokerErrors.isHeldTooLong(cause)
            ? new LossReason(Cause.HELD_TOO_LONG, why)
            : new LossReason(
                Cause.REVOKED,
                "RabbitMQ closed the channel that held a token of queue %s: %s"
                    .formatted(queue, why)));
  }

  /** The broker ended it. */
  void gone(LossReason reason) {
    gone.complete(reason);
  }

  /** Whether its message is here. */
  public boolean isHere() {
    return stage.get() == Stage.HERE;
  }

  /** Nobody waits for it any more; true if it had not come, and will go back if it does. */
  boolean leave() {
    return stage.compareAndSet(Stage.WAITING, Stage.LEFT);
  }

  /** Its message, which must be here. */
  Delivery delivery() {
    Delivery message = delivery;
    if (message == null) {
      throw new IllegalStateException("no token of queue " + queue + " has come yet");
    }
    return message;
  }

  /** What the message says. */
  public String content() {
    return delivery().content();
  }

  /** How often it was taken and put back before, if the queue counts that. */
  public long returns() {
    return delivery().returns();
  }

  /** Whether the broker ended it, as far as this process was told. */
  public boolean isGone() {
    return ended || gone.isDone();
  }

  /** Waits, not for long, until it is known why the broker ended it, if it did. */
  public void awaitFate(long nanos) {
    if (!ended || gone.isDone()) {
      return;
    }
    try {
      LossReason unused = Futures.await(gone, Math.min(nanos, LONGEST_FATE.toNanos()));
    } catch (TimeoutException | ExecutionException e) {
      log.debug("Why a consumer of queue {} ended is not known yet", queue);
    }
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
