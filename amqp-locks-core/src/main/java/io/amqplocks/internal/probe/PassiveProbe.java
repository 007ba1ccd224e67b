package io.amqplocks.internal.probe;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.PublishingConnection;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Declares each queue passively. It publishes nothing: on a connection that nobody publishes on, an
 * alarm does not matter (trap 4). A queue that is absent or another's costs the channel that asked for
 * it, and a new one the next time.
 *
 * <p>Concurrency: one question at a time on a channel. When the answer comes, in time or not, the
 * connection's reading thread gives the channel back, or forgets it if the answer closed it; with the
 * connection each open question fails. So nothing stays lent for ever, and a semaphore bounds the
 * channels of all callers together. Who finds none free waits within its own bound; it waits for
 * answers only, never for another caller.
 */
public final class PassiveProbe implements ExistenceProbe {

  /** As many questions as are under way at once: more than hide a round trip gain nothing. */
  static final int MOST_CHANNELS = 32;

  private final IdleChannels<Channel> channels =
      new IdleChannels<>(channel -> channel, channel -> channel);
  private final Semaphore free = new Semaphore(MOST_CHANNELS);

  @Override
  public List<Presence> probe(Call call, PublishingConnection prober, List<String> queues) {
    List<CompletableFuture<Command>> asked = new ArrayList<>(queues.size());
    for (String queue : queues) {
      if (!free(call)) {
        break;
      }
      try {
        asked.add(ask(call, prober, queue));
      } catch (LockException.Unanswered e) {
        // Not even a channel within the bound.
        break;
      }
    }
    List<Presence> answers = new ArrayList<>(queues.size());
    for (int i = 0; i < queues.size(); i++) {
      answers.add(i < asked.size() ? await(call, queues.get(i), asked.get(i)) : Presence.UNKNOWN);
    }
    return answers;
  }

  private CompletableFuture<Command> ask(Call call, PublishingConnection prober, String queue) {
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
        case NONE -> Presence.UNKNOWN;
      };
    }
  }

  private boolean free(Call call) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return free.tryAcquire(call.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          // It does not cut a question short, as nowhere else.
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static String step(String queue) {
    return "look for queue " + queue;
  }
}
