package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.Channel;
import java.io.IOException;

/** Publishes with confirms. A nack, or no answer, makes only that one queue unknown. */
public final class ConfirmProbe extends PublishingProbe {

  /** Does not open anything yet. */
  public ConfirmProbe() {
    super(ConfirmedChannel::new);
  }

  /** A channel in confirm mode, on which each probe has an answer of its own. */
  private static final class ConfirmedChannel extends PublishingChannel {

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
}
