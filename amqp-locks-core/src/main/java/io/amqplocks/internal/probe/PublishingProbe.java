package io.amqplocks.internal.probe;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.PublishingConnection;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Publishes to each queue, mandatory, and waits once for all answers. A returned message means absent;
 * one that was taken means present; anything else means nothing (trap 2). The messages are transient
 * and empty: taken without a disk, and dropped by queues that keep nothing.
 *
 * <p>Concurrency: a channel serves one batch at a time, and its listeners, which run on the
 * connection's reading thread, write to that batch only. A channel serves no other batch before each of
 * its probes is answered, so no late answer is counted for another batch.
 */
abstract class PublishingProbe implements ExistenceProbe {

  private static final BasicProperties TRANSIENT =
      new BasicProperties.Builder().deliveryMode(1).build();

  /**
   * Enough for 640 slots and their holders, or 1,280 of either, in one round trip, and little enough for the sockets' buffers: under an alarm
   * the broker reads no further, and a write that does not fit would wait without a bound.
   */
  private static final int MOST_AT_ONCE = 1280;

  private final IdleChannels<PublishingChannel> channels;

  PublishingProbe(IdleChannels.Setup<PublishingChannel> setup) {
    channels = new IdleChannels<>(PublishingChannel::channel, setup);
  }

  @Override
  public final List<Presence> probe(Call call, PublishingConnection prober, List<String> queues) {
    List<Presence> answers = new ArrayList<>(queues.size());
    for (int from = 0; from < queues.size(); from += MOST_AT_ONCE) {
      List<String> batch = queues.subList(from, Math.min(from + MOST_AT_ONCE, queues.size()));
      answers.addAll(
          prober.blocked().isDone() || call.remainingNanos() == 0
              ? Collections.nCopies(batch.size(), Presence.UNKNOWN)
              : publish(call, prober, batch));
    }
    return answers;
  }

  private List<Presence> publish(Call call, PublishingConnection prober, List<String> queues) {
    try {
      PublishingChannel channel = channels.borrow(call, prober);
      ProbeBatch batch = channel.begin(queues);
      // Once all is answered, in time or not, the channel is free again.
      var unused = batch.answered().thenRun(() -> channels.giveBack(channel));
      for (String queue : queues) {
        channel.channel().basicPublish("", queue, true, TRANSIENT, new byte[0]);
      }
      channel.published();
      return await(call, prober, batch);
    } catch (LockException.Unanswered e) {
      // Not even a channel within the bound.
      return Collections.nCopies(queues.size(), Presence.UNKNOWN);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "publish to queue " + queues.get(0), e);
    }
  }

  private static List<Presence> await(Call call, PublishingConnection prober, ProbeBatch batch) {
    CompletableFuture<Object> end = CompletableFuture.anyOf(batch.answered(), prober.blocked());
    try {
      Futures.await(end, call.remainingNanos());
    } catch (TimeoutException e) {
      return batch.results();
    } catch (ExecutionException e) {
      throw BrokerErrors.calling(call, "publish to queue " + batch.queues().get(0), e);
    }
    return batch.results();
  }
}
