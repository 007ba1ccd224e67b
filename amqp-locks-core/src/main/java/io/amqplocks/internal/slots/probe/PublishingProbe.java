package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Publishes to each queue with the mandatory flag, and waits once for all answers. A returned
 * message means that the queue is absent. An accepted message means that it is present. Anything
 * else means nothing (trap 2). The messages are transient and empty. So they are accepted without a
 * disk write, and dropped by queues that keep nothing.
 *
 * <p>Concurrency: a channel serves one batch at a time. Its listeners run on the connection's
 * reading thread and write to that batch only. A channel serves no other batch before each of its
 * probes is answered. So no late answer is counted for another batch.
 */
abstract class PublishingProbe implements ExistenceProbe {

  private static final BasicProperties TRANSIENT =
      new BasicProperties.Builder().deliveryMode(1).build();

  /**
   * Enough for 640 slots with their holders, or 1,280 of either, in one round trip. It is small
   * enough for the sockets' buffers: under an alarm the broker reads no further, and a write that
   * does not fit would wait without a bound.
   */
  private static final int MOST_AT_ONCE = 1280;

  private final IdleChannels<PublishingChannel> channels;

  PublishingProbe(IdleChannels.Setup<PublishingChannel> setup) {
    channels = new IdleChannels<>(PublishingChannel::channel, setup);
  }

  @Override
  public final List<Presence> probe(Call call, AuxiliaryConnection prober, List<String> queues) {
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

  private List<Presence> publish(Call call, AuxiliaryConnection prober, List<String> queues) {
    try {
      PublishingChannel channel = channels.borrow(call, prober);
      ProbeBatch batch = channel.begin(queues);
      // When all probes are answered, in time or not, the channel is free again.
      var unused = batch.answered().thenRun(() -> channels.giveBack(channel));
      for (String queue : queues) {
        channel.channel().basicPublish("", queue, true, TRANSIENT, new byte[0]);
      }
      channel.published();
      return await(call, prober, batch);
    } catch (LockException.Unanswered e) {
      // No channel became available within the bound.
      return Collections.nCopies(queues.size(), Presence.UNKNOWN);
    } catch (IOException | ShutdownSignalException e) {
      if (BrokerErrors.isUndelivered(e)) {
        return Collections.nCopies(queues.size(), Presence.UNKNOWN);
      }
      throw BrokerErrors.calling(call, "publish to queue " + queues.get(0), e);
    }
  }

  private static List<Presence> await(Call call, AuxiliaryConnection prober, ProbeBatch batch) {
    CompletableFuture<Object> end = CompletableFuture.anyOf(batch.answered(), prober.blocked());
    try {
      Futures.await(end, call.remainingNanos());
    } catch (TimeoutException e) {
      return batch.results();
    } catch (ExecutionException e) {
      if (BrokerErrors.isUndelivered(e)) {
        return batch.results();
      }
      throw BrokerErrors.calling(call, "publish to queue " + batch.queues().get(0), e);
    }
    return batch.results();
  }
}
