package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.AMQP.Tx.Commit;
import com.rabbitmq.client.Channel;
import io.amqplocks.internal.broker.BrokerErrors;
import java.io.IOException;

/**
 * Publishes in a transaction. Transactions are part of plain AMQP 0-9-1; confirms are an extension.
 * ADR 14 says what this costs.
 */
public final class TransactionProbe extends PublishingProbe {

  /** Does not open anything yet. */
  public TransactionProbe() {
    super(TransactedChannel::new);
  }

  /**
   * A channel in transaction mode. A commit-ok confirms the whole batch, and all returns arrive
   * before it. If a queue did not accept its probe, the broker closes the channel instead (406).
   * Then the returned queues are absent, and all others are unknown.
   */
  private static final class TransactedChannel extends PublishingChannel {

    TransactedChannel(Channel channel) throws IOException {
      super(channel, false);
      channel.txSelect();
      channel.addShutdownListener(
          cause -> {
            if (BrokerErrors.isUndecided(cause)) {
              settle(false);
            } else {
              batch().failed(cause);
            }
          });
    }

    @Override
    long firstSequence() {
      return 1;
    }

    @Override
    void published() throws IOException {
      ProbeBatch asked = batch();
      // If this fails, the shutdown listener knows the reason.
      var unused =
          channel()
              .asyncCompletableRpc(new Commit.Builder().build())
              .thenRun(() -> asked.confirmed(asked.queues().size(), true, true));
    }

    private void settle(boolean ack) {
      batch().confirmed(batch().queues().size(), true, ack);
    }
  }
}
