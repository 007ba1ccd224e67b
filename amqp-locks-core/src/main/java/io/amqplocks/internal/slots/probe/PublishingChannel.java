package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import io.amqplocks.internal.broker.BrokerErrors;
import java.io.IOException;
import java.util.List;

/** A channel with its present batch of probes. Subclasses define how the probes are answered. */
abstract class PublishingChannel {

  private final Channel channel;
  private volatile ProbeBatch batch = new ProbeBatch(List.of(), 0);

  /**
   * Listens to that channel.
   *
   * @param isLast whether nothing follows the return of a probe
   */
  PublishingChannel(Channel channel, boolean isLast) {
    this.channel = channel;
    channel.addReturnListener(
        returned ->
            batch.returned(returned.getRoutingKey(), BrokerErrors.isUnroutable(returned), isLast));
  }

  final Channel channel() {
    return channel;
  }

  final ProbeBatch batch() {
    return batch;
  }

  final ProbeBatch begin(List<String> queues) {
    batch = new ProbeBatch(queues, firstSequence());
    if (!channel.isOpen()) {
      // The channel was closed before the listener could see this batch.
      throw new AlreadyClosedException(channel.getCloseReason());
    }
    return batch;
  }

  /** The number of the next publish, as the answers count it. */
  abstract long firstSequence();

  /** All probes of the batch are published. Requests the answers, if that is necessary. */
  abstract void published() throws IOException;
}
