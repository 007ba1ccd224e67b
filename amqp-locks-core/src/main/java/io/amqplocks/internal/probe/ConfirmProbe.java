package io.amqplocks.internal.probe;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.ProberConnection;
import java.io.IOException;
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

  private final Queue<ConfirmedChannel> idle = new ConcurrentLinkedQueue<>();

  @Override
  public List<Presence> probe(Call call, ProberConnection prober, List<String> queues) {
    CompletableFuture<String> blocked = prober.blocked();
    if (blocked.isDone()) {
      return unknown(queues);
    }
    try {
      ConfirmedChannel channel = borrow(call, prober);
      ProbeBatch batch = channel.begin(queues);
      for (String queue : queues) {
        channel.channel().basicPublish("", queue, true, TRANSIENT, new byte[0]);
      }
      return await(call, prober, channel, batch);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "publish to queue " + queues.get(0), e);
    }
  }

  private List<Presence> await(
      Call call, ProberConnection prober, ConfirmedChannel channel, ProbeBatch batch) {
    CompletableFuture<Object> end = CompletableFuture.anyOf(batch.answered(), prober.blocked());
    try {
      Futures.await(end, call.remainingNanos());
      // If the broker blocked us half-way, the channel is free again once all has been answered.
      var unused = batch.answered().thenRun(() -> idle.add(channel));
    } catch (TimeoutException e) {
      prober.discard(channel.channel());
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

  private static List<Presence> unknown(List<String> queues) {
    return Collections.nCopies(queues.size(), Presence.UNKNOWN);
  }
}
