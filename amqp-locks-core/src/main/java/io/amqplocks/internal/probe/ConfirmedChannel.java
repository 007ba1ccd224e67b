package io.amqplocks.internal.probe;

import com.rabbitmq.client.Channel;
import java.io.IOException;

/** A channel in confirm mode: each probe is answered by itself. */
final class ConfirmedChannel extends PublishingChannel {

  ConfirmedChannel(Channel channel) throws IOException {
    super(channel);
    channel.confirmSelect();
    channel.addConfirmListener(
        (sequence, multiple) -> batch().confirmed(sequence, multiple, true),
        (sequence, multiple) -> batch().confirmed(sequence, multiple, false));
    channel.addShutdownListener(cause -> batch().failed(cause));
  }

  @Override
  long firstSequence() {
    return channel().getNextPublishSeqNo();
  }

  @Override
  void published() {}
}
