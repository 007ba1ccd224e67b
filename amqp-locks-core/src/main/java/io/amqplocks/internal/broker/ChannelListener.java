package io.amqplocks.internal.broker;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;

/**
 * The consumer or message that a {@link ConsumerChannel} carries. It is notified of what the broker
 * sends on that channel. Its methods must not block.
 */
public interface ChannelListener {

  /** The tag of its consumer: unique, and empty if it has no consumer. */
  String tag();

  /** A message arrived for its consumer. */
  void delivered(Delivery delivery) throws IOException;

  /** The broker cancelled its consumer. */
  void cancelled();

  /** The channel was closed, by the broker or together with the connection. */
  void closed(ShutdownSignalException cause);
}
