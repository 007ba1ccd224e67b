package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.concurrent.TimeoutException;

/**
 * A connection with a channel on which a consumer can be started at once. Without recovery: the
 * queue is consumed again by what is certainly the active one.
 *
 * @param connection of one term at most
 * @param channel its first channel
 */
record ReadyConnection(Connection connection, Channel channel) implements AutoCloseable {

  /** For the broker to say that it has seen the end, which it may be too busy for. */
  private static final int ABORT_MILLIS = 500;

  static ReadyConnection open(SoleConsumerBuilder settings) throws IOException, TimeoutException {
    Connection connection = settings.connect("amqp-locks consumer of " + settings.queue);
    try {
      Channel channel = openChannel(connection);
      channel.basicQos(settings.prefetch);
      return new ReadyConnection(connection, channel);
    } catch (IOException | RuntimeException e) {
      connection.abort(ABORT_MILLIS);
      throw e;
    }
  }

  /**
   * Opens a channel.
   *
   * @throws IOException also if the connection may have no more of them
   */
  static Channel openChannel(Connection connection) throws IOException {
    return connection
        .openChannel()
        .orElseThrow(() -> new IOException("the broker allows this connection no more channels"));
  }

  boolean isOpen() {
    return channel.isOpen();
  }

  /** Runs that on another thread when the connection breaks, or at once if it is broken. */
  void whenBroken(Runnable action) {
    connection.addShutdownListener(
        cause -> {
          if (!cause.isInitiatedByApplication()) {
            action.run();
          }
        });
  }

  /**
   * At once, whatever is under way. The broker requeues what is not acknowledged. A call that it
   * does not answer ends with the connection.
   */
  void abort() {
    connection.abort(ABORT_MILLIS);
  }

  @Override
  public void close() throws IOException {
    connection.close(SoleConsumerBuilder.TIMEOUT_MILLIS);
  }
}
