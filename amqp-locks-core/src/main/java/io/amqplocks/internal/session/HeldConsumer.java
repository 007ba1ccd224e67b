package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * An exclusive consumer of this session: there from the broker's consume-ok until either side cancels
 * it or its channel closes.
 *
 * <p>Concurrency: its end, if it was not ours, is one future that is completed once, by whichever thread
 * hears of it first.
 */
public final class HeldConsumer implements Carried {

  private final String queue;
  private final String tag;
  private final Loan channel;
  private final CompletableFuture<String> gone = new CompletableFuture<>();

  HeldConsumer(String queue, String tag, Loan channel) {
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
  }

  String queue() {
    return queue;
  }

  @Override
  public String tag() {
    return tag;
  }

  /**
   * Strangers' messages are dropped. They are acknowledged at once, and the broker sends one at a time:
   * so a flood of messages neither fills this side's buffers, as with automatic acknowledgement, nor
   * runs one into the broker's delivery timeout, which would close the channel.
   */
  @Override
  public void delivered(Delivery delivery) throws IOException {
    delivery.remove();
  }

  @Override
  public void cancelled() {
    gone("queue " + queue + " was deleted, or its node went down");
  }

  /** With the connection goes the session, and it tells its members by itself. */
  @Override
  public void closed(ShutdownSignalException cause) {
    if (!cause.isHardError()) {
      gone(
          "RabbitMQ closed the channel that consumed queue %s: %s"
              .formatted(queue, BrokerErrors.text(cause)));
    }
  }

  Loan channel() {
    return channel;
  }

  /** The broker ended it. */
  void gone(String fate) {
    gone.complete(fate);
  }

  /** The queue does not have exactly one consumer, so this one excludes nobody. */
  public void notAlone(int consumers) {
    gone("queue %s has %d consumers and not this one alone".formatted(queue, consumers));
  }

  /** Whether the broker ended it, as far as this process was told. */
  public boolean isGone() {
    return gone.isDone();
  }

  /** Calls when the broker ends it, or now if it has, on any thread; must not block. */
  public void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** How the broker ended it, in words. */
  public String fate() {
    return gone.getNow("queue " + queue + " was deleted");
  }
}
