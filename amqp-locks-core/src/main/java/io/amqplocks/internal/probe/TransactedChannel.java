package io.amqplocks.internal.probe;

import com.rabbitmq.client.AMQP.Tx.Commit;
import com.rabbitmq.client.Channel;
import io.amqplocks.internal.session.BrokerErrors;
import java.io.IOException;

/**
 * A channel in transaction mode: commit-ok answers the whole batch, and all returns came before it. If
 * a queue did not take its probe the broker closes the channel instead (406): then what was returned is
 * absent, and nothing is known of the rest.
 */
final class TransactedChannel extends PublishingChannel {

  TransactedChannel(Channel channel) throws IOException {
    super(channel);
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
    // If it fails, the shutdown listener knows why.
    var unused =
        channel()
            .asyncCompletableRpc(new Commit.Builder().build())
            .thenRun(() -> asked.confirmed(asked.queues().size(), true, true));
  }

  private void settle(boolean ack) {
    batch().confirmed(batch().queues().size(), true, ack);
  }
}
