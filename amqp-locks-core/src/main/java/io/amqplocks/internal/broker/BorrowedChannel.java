package io.amqplocks.internal.broker;

import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A loan of a {@link ConsumerChannel}, from its lending until its owner gives it back. Each owner
 * has a loan of its own, and a loan ends once, however often it is given back. So nobody gives back
 * a channel that another owner still uses.
 */
public final class BorrowedChannel {

  private final ConsumerChannel channel;
  private final AtomicBoolean ended = new AtomicBoolean();

  BorrowedChannel(ConsumerChannel channel) {
    this.channel = channel;
  }

  public ConsumerChannel channel() {
    return channel;
  }

  /** The client's channel. */
  public Channel getChannel() {
    return channel.getChannel();
  }

  /** As {@link ConsumerChannel#listen}. */
  public void listen(ChannelListener next) {
    channel.listen(next);
  }

  /** As {@link ConsumerChannel#cancel(String)}. */
  public void cancel(String tag) throws IOException {
    channel.cancel(tag);
  }

  /** As {@link ConsumerChannel#cancel(String, ConsumerChannel.Sending)}. */
  public void cancel(String tag, ConsumerChannel.Sending next) throws IOException {
    channel.cancel(tag, next);
  }

  /** As {@link ConsumerChannel#isReceiving}. */
  public boolean isReceiving() {
    return channel.isReceiving();
  }

  /** Ends the loan; false if it had ended. */
  boolean end() {
    return ended.compareAndSet(false, true);
  }

  boolean isEnded() {
    return ended.get();
  }
}
