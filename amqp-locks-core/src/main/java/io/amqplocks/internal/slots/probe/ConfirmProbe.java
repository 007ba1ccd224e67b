package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.Channel;
import io.amqplocks.internal.broker.BrokerProfile;
import java.io.IOException;

/**
 * Publishes with confirms. A nack, or no answer, makes only that one queue unknown. Where the
 * return follows a nack, the nack is no answer.
 */
public final class ConfirmProbe extends PublishingProbe {

  /** Does not open anything yet. */
  public ConfirmProbe() {
    super(ConfirmedChannel::new);
  }

  /** A channel in confirm mode, on which each probe has an answer of its own. */
  private static final class ConfirmedChannel extends PublishingChannel {

    ConfirmedChannel(Channel channel) throws IOException {
      this(channel, BrokerProfile.of(channel.getConnection()).returnsAfterNack());
    }

    private ConfirmedChannel(Channel channel, boolean returnsAfterNack) throws IOException {
      super(channel, returnsAfterNack);
      channel.confirmSelect();
      channel.addConfirmListener(
          (sequence, multiple) -> batch().confirmed(sequence, multiple, true),
          (sequence, multiple) -> {
            if (!returnsAfterNack) {
              batch().confirmed(sequence, multiple, false);
            }
          });
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
