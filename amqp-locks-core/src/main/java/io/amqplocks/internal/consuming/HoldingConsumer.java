package io.amqplocks.internal.consuming;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.ChannelListener;
import io.amqplocks.internal.broker.Delivery;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * A consumer of this session that holds a lock. It exists from the broker's consume-ok until either
 * side cancels it or its channel closes.
 *
 * <p>Concurrency: an end that this side did not cause is one future. The first thread that learns
 * of it completes the future, once.
 */
public final class HoldingConsumer implements ChannelListener {

  private final String queue;
  private final String tag;
  private final BorrowedChannel channel;
  private final CompletableFuture<String> gone = new CompletableFuture<>();

  HoldingConsumer(String queue, String tag, BorrowedChannel channel) {
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
   * Drops strangers' messages. They are acknowledged at once, and the broker sends one at a time.
   * So a flood of messages does not fill this side's buffers, as it would with automatic
   * acknowledgement. No message runs into the broker's delivery timeout, which would close the
   * channel.
   */
  @Override
  public void delivered(Delivery delivery) throws IOException {
    delivery.remove();
  }

  @Override
  public void cancelled() {
    gone("queue " + queue + " was deleted, or its node went down");
  }

  /** If the connection closed, the session ends too, and notifies its members itself. */
  @Override
  public void closed(ShutdownSignalException cause) {
    if (!cause.isHardError()) {
      gone(
          "RabbitMQ closed the channel that consumed queue %s: %s"
              .formatted(queue, BrokerErrors.text(cause)));
    }
  }

  BorrowedChannel channel() {
    return channel;
  }

  /** The broker ended the consumer. */
  void gone(String fate) {
    gone.complete(fate);
  }

  /** The queue does not have exactly one consumer, so this one excludes nobody. */
  void notAlone(int consumers) {
    gone(
        consumers == 0
            ? "queue %s has no consumer".formatted(queue)
            : "queue %s has %d consumers and not this one alone".formatted(queue, consumers));
  }

  /** Whether the broker ended the consumer, as far as this process was notified. */
  boolean isGone() {
    return gone.isDone();
  }

  /**
   * Runs the callback when the broker ends the consumer, or now if it has, on any thread. The
   * callback must not block.
   */
  void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** A description of how the broker ended it. */
  String fate() {
    return gone.getNow("queue " + queue + " was deleted");
  }
}
