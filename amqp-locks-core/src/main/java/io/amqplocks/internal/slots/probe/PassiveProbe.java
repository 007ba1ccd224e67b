package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.OverdueQueues;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Declares each queue passively. It publishes nothing. On a connection that nobody publishes on, an
 * alarm does not matter (trap 4). If a queue is absent, or belongs to another client, the broker
 * closes the channel, and the next request needs a new one.
 *
 * <p>Concurrency: a channel has one request at a time. When the reply arrives, in time or not, the
 * connection's reading thread gives the channel back, or forgets it if the reply closed it. When
 * the connection breaks, each outstanding request fails. So no channel stays lent forever. A
 * semaphore limits the requests that all callers together wait for. A caller that may not ask waits
 * within its own bound. A request that nobody waits for any more is not counted, and its queue is
 * not asked again before it answers: the slots of a node that is down keep nobody from looking at
 * others.
 */
public final class PassiveProbe implements ExistenceProbe {

  /**
   * The most requests to send at once. More than enough to hide a round trip would gain nothing.
   */
  static final int MOST_CHANNELS = 32;

  private final IdleChannels<Channel> channels =
      new IdleChannels<>(channel -> channel, channel -> channel);
  private final Semaphore free = new Semaphore(MOST_CHANNELS);
  private final OverdueQueues overdue = new OverdueQueues();

  /** A request under way, which is counted until it is answered or given up. */
  private final class Question {

    private final CompletableFuture<Command> answer;
    private final AtomicBoolean counted = new AtomicBoolean(true);

    Question(Channel channel, CompletableFuture<Command> sent) {
      answer =
          sent.whenComplete(
              (ok, failure) -> {
                if (failure == null) {
                  channels.giveBack(channel);
                }
                end();
              });
    }

    void end() {
      if (counted.getAndSet(false)) {
        free.release();
      }
    }
  }

  @Override
  public List<Presence> probe(Call call, AuxiliaryConnection prober, List<String> queues) {
    Map<String, Question> asked = new HashMap<>();
    for (String queue : queues) {
      if (overdue.owes(queue, 1)) {
        continue;
      }
      if (!Futures.acquire(free, call)) {
        break;
      }
      try {
        asked.put(queue, ask(call, prober, queue));
      } catch (LockException.Unanswered e) {
        // No channel became available within the bound.
        break;
      }
    }
    try {
      List<Presence> answers = new ArrayList<>(queues.size());
      for (String queue : queues) {
        Question question = asked.get(queue);
        answers.add(question == null ? Presence.UNKNOWN : await(call, queue, question));
      }
      return answers;
    } finally {
      asked.forEach(this::giveUp);
    }
  }

  private Question ask(Call call, AuxiliaryConnection prober, String queue) {
    boolean asked = false;
    try {
      Channel channel = channels.borrow(call, prober);
      CompletableFuture<Command> sent = channel.asyncCompletableRpc(QueueArguments.passive(queue));
      asked = true;
      return new Question(channel, sent);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step(queue), e);
    } finally {
      if (!asked) {
        free.release();
      }
    }
  }

  private static Presence await(Call call, String queue, Question question) {
    try {
      Futures.await(question.answer, call.remainingNanos());
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

  private void giveUp(String queue, Question question) {
    if (!question.answer.isDone()) {
      overdue.add(queue, question.answer);
      question.end();
    }
  }

  private static String step(String queue) {
    return "look for queue " + queue;
  }
}
