package io.amqplocks.internal.broker;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a channel of a connection that others need. If a close is not answered in time, the client
 * gives the channel's number to another channel all the same. The broker then receives a second
 * open of a channel that it has, and closes the connection (504). A channel may be stuck for more
 * than a minute while its connection is well, when a node of a cluster is lost. So the channel is
 * asked for one more reply, and closed when that has come. If it never comes, the channel is closed
 * with its connection.
 *
 * <p>Concurrency: nobody waits for that reply. Nobody may use the channel any more.
 */
public final class ChannelCloser {

  private static final Logger log = LoggerFactory.getLogger(ChannelCloser.class);

  private ChannelCloser() {}

  /**
   * Closes a channel that may be busy, and does not wait for that. It must be open, and no request
   * may be waited for on it. Its prefetch becomes one message for each consumer to come.
   *
   * @param background closes the channel, which takes a round trip
   * @param then is run in the background when the channel is closed
   */
  public static void closeWhenAnswered(Channel channel, Executor background, Runnable then) {
    var unused =
        askOnceMore(channel)
            .whenCompleteAsync(
                (answer, failure) -> {
                  close(channel);
                  then.run();
                },
                background);
  }

  private static CompletableFuture<Command> askOnceMore(Channel channel) {
    try {
      return channel.asyncCompletableRpc(ConsumerChannelPool.ONE_AT_A_TIME);
    } catch (IOException | ShutdownSignalException e) {
      // It is closed already, or its connection broke.
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Closes a channel that has just answered. Waits for it, and never throws. */
  static void close(Channel channel) {
    try {
      channel.abort();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("Channel not closed: {}", BrokerErrors.text(e));
    }
  }
}
