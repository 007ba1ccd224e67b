package io.amqplocks.internal.probe;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.ProberConnection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Publishes to each queue, mandatory and with confirms, and waits once for all. A returned message
 * means absent; a confirmed one present; a nack or silence means nothing (trap 2). The messages are
 * transient and empty: confirmed without a disk, and dropped by queues that keep nothing.
 *
 * <p>Concurrency: a channel serves one batch at a time, and its listeners, which run on the
 * connection's reading thread, write to that batch only. A channel serves no
 * other batch before each of its probes is answered, so no late confirm is counted for another batch.
 */
public final class ConfirmProbe implements ExistenceProbe {

  private static final BasicProperties TRANSIENT =
      new BasicProperties.Builder().deliveryMode(1).build();

  /**
   * Enough for 512 slots in one round trip, and little enough for the sockets' buffers: under an alarm
   * the broker reads no further, and a write that does not fit would wait without a bound.
   */
  private static final int MOST_AT_ONCE = 1024;

  private final Queue<ConfirmedChannel> idle = new ConcurrentLinkedQueue<>();

  @Override
  public List<Presence> probe(Call call, ProberConnection prober, List<String> queues) {
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

  private List<Presence> publish(Call call, ProberConnection prober, List<String> queues) {
    try {
      ConfirmedChannel channel = borrow(call, prober);
      ProbeBatch batch = channel.begin(queues);
      // Once all is answered, in time or not, the channel is free again.
      var unused = batch.answered().thenRun(() -> idle.add(channel));
      for (String queue : queues) {
        channel.channel().basicPublish("", queue, true, TRANSIENT, new byte[0]);
      }
      return await(call, prober, batch);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "publish to queue " + queues.get(0), e);
    }
  }

  private static List<Presence> await(Call call, ProberConnection prober, ProbeBatch batch) {
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

  private ConfirmedChannel borrow(Call call, ProberConnection prober) throws IOException {
    for (ConfirmedChannel free = idle.poll(); free != null; free = idle.poll()) {
      if (free.channel().isOpen()) {
        return free;
      }
    }
    Channel channel = prober.open(call);
    return new ConfirmedChannel(channel);
  }
}
