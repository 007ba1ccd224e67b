package io.amqplocks.internal.probe;

import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.List;

/** A channel in confirm mode, with the batch of probes that it carries now. */
final class ConfirmedChannel {

  private final Channel channel;
  private volatile ProbeBatch batch = new ProbeBatch(List.of(), 0);

  ConfirmedChannel(Channel channel) throws IOException {
    this.channel = channel;
    channel.confirmSelect();
    channel.addReturnListener(returned -> batch.returned(returned.getRoutingKey()));
    channel.addConfirmListener(
        (sequence, multiple) -> batch.confirmed(sequence, multiple, true),
        (sequence, multiple) -> batch.confirmed(sequence, multiple, false));
    channel.addShutdownListener(cause -> batch.failed(cause));
  }

  Channel channel() {
    return channel;
  }

  ProbeBatch begin(List<String> queues) {
    batch = new ProbeBatch(queues, channel.getNextPublishSeqNo());
    if (!channel.isOpen()) {
      // Closed before the listener could see this batch.
      throw new AlreadyClosedException(channel.getCloseReason());
    }
    return batch;
  }
}
