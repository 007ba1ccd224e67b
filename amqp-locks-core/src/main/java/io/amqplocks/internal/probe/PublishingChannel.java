package io.amqplocks.internal.probe;

import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.List;

/** A channel with the batch of probes that it carries now; how they are answered is a subclass's. */
abstract class PublishingChannel {

  private final Channel channel;
  private volatile ProbeBatch batch = new ProbeBatch(List.of(), 0);

  PublishingChannel(Channel channel) {
    this.channel = channel;
    channel.addReturnListener(returned -> batch.returned(returned.getRoutingKey()));
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
      // Closed before the listener could see this batch.
      throw new AlreadyClosedException(channel.getCloseReason());
    }
    return batch;
  }

  /** The number of the next publish, as the answers will count it. */
  abstract long firstSequence();

  /** All of the batch is published: asks for the answers, if they must be asked for. */
  abstract void published() throws IOException;
}
