package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;

/**
 * Declares each queue passively. It publishes nothing. On a connection that nobody publishes on, an
 * alarm does not matter (trap 4). If a queue is absent, or belongs to another client, the broker
 * closes the channel, and the next request needs a new one.
 *
 * <p>Concurrency: a channel has one request at a time. When the reply arrives, in time or not, the
 * connection's reading thread gives the channel back, or forgets it if the reply closed it. When
 * the connection breaks, each outstanding request fails. So no channel stays lent forever. A
 * semaphore limits the channels of all callers together. A caller that finds none waits within its
 * own bound. It waits for replies only, never for another caller.
 */
public final class PassiveProbe implements ExistenceProbe {

  /**
   * The most requests to send at once. More than enough to hide a round trip would gain nothing.
   */
  static final int MOST_CHANNELS = 32;

  private final IdleChannels<Channel> channels =
      new IdleChannels<>(channel -> channel, channel -> channel);
  private final Semaphore free = new Semaphore(MOST_CHANNELS);

  @Override
  public List<Presence> probe(Call call, AuxiliaryConnection prober, List<String> queues) {
    List<CompletableFuture<Command>> asked = new ArrayList<>(queues.size());
    for (String queue : queues) {
      if (!Futures.acquire(free, call)) {
        break;
      }
      try {
        asked.add(ask(call, prober, queue));
      } catch (LockException.Unanswered e) {
        // No channel became available within the bound.
        break;
      }
    }
    List<Presence> answers = new ArrayList<>(queues.size());
    for (int i = 0; i < queues.size(); i++) {
      answers.add(i < asked.size() ? await(call, queues.get(i), asked.get(i)) : Presence.UNKNOWN);
    }
    return answers;
  }

  private CompletableFuture<Command> ask(Call call, AuxiliaryConnection prober, String queue) {
    boolean asked = false;
    try {
      Channel channel = channels.borrow(call, prober);
      CompletableFuture<Command> answer =
          channel.asyncCompletableRpc(QueueArguments.passive(queue));
      asked = true;
      return answer.whenComplete(
          (ok, failure) -> {
            if (failure == null) {
              channels.giveBack(channel);
            }
            free.release();
          });
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step(queue), e);
    } finally {
      if (!asked) {
        free.release();
      }
    }
  }

  private static Presence await(Call call, String queue, CompletableFuture<Command> answer) {
    try {
      Futures.await(answer, call.remainingNanos());
      return Presence.PRESENT;
    } catch (TimeoutException e) {
      return Presence.UNKNOWN;
    } catch (ExecutionException e) {
      return switch (BrokerErrors.looked(call, step(queue), e)) {
        case OK, LOCKED -> Presence.PRESENT;
        case ABSENT -> Presence.ABSENT;
        case TIMED_OUT -> Presence.UNKNOWN;
      };
    }
  }

  private static String step(String queue) {
    return "look for queue " + queue;
  }
}
