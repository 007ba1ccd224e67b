package io.amqplocks.internal.session;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;

/** What a {@link DeliveryChannel} carries, and so hears of what the broker says there. Must not block. */
interface Carried {

  /** The tag of its consumer; never another's, and empty if it has none. */
  String tag();

  /** A message came for its consumer. */
  void delivered(Delivery delivery) throws IOException;

  /** The broker ended its consumer. */
  void cancelled();

  /** The channel is closed, by the broker or with the connection. */
  void closed(ShutdownSignalException cause);
}
