package io.amqplocks.internal.mutex;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueRetry;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.mutex.ActiveConsumer.Phase;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumers of mutexes' queues, of one session. A queue has at least one message. The
 * consumer that is sent one holds the mutex. All others stand by, in the order of their arrival.
 *
 * <p>Concurrency: a consumer has a channel to itself, from the consume to the cancel. A consumer
 * that comes about too late is cancelled by the thread that learns of it.
 */
final class ActiveConsumers {

  private static final Logger log = LoggerFactory.getLogger(ActiveConsumers.class);

  private static final PerSession<ActiveConsumers> SESSIONS =
      new PerSession<>(ActiveConsumers::new);

  /** Somebody who deletes the queue again and again is no reason to try for ever. */
  private static final int TRIES = 3;

  /** A free mutex's message follows the reply to the consume within this time, almost always. */
  private static final long AT_ONCE = Duration.ofNanos(500_000).toNanos();

  private final RpcChannelPool rpc;
  private final ConsumerChannelPool channels;
  private final MutexQueues queues;
  private final ActiveConsumerInspection inspection;
  private final ActiveConsumerVerification verification;
  private final Map<String, Object> arguments;
  private final BusyMutexes busy = new BusyMutexes();
  private final AtomicLong lastTag = new AtomicLong();

  /** The consumers of that session. */
  static ActiveConsumers of(Session session) {
    return SESSIONS.of(session);
  }

  private ActiveConsumers(Session session) {
    rpc = session.rpc();
    channels = session.consumerChannels();
    queues = new MutexQueues(session);
    inspection =
        new ActiveConsumerInspection(channels, queues, session.broker().areUnacknowledgedCounted());
    verification = new ActiveConsumerVerification(inspection, queues);
    arguments = session.broker().consume(0, true);
  }

  /**
   * Begins to consume.
   *
   * @param arrived is called when a message has arrived or never will; must not block
   * @return the consumer, to be given to {@link #release} in any case
   * @throws LockException.Conflict if the queue is none of a mutex
   */
  ActiveConsumer consume(Call call, String queue, Runnable arrived) {
    return QueueRetry.of(
        call,
        queue,
        () -> queues.forget(queue),
        () -> {
          queues.declareOnce(call, queue);
          BorrowedChannel channel = channels.borrow(call, "consume from queue " + queue);
          ActiveConsumer consumer =
              new ActiveConsumer(queue, "mutex-" + lastTag.incrementAndGet(), channel, arrived);
          return consume(call, consumer) ? consumer : null;
        });
  }

  /** Consumes; false if there is no such queue. */
  private boolean consume(Call call, ActiveConsumer consumer) {
    String step = "consume from queue " + consumer.queue();
    Basic.Consume.Builder consume =
        new Basic.Consume.Builder()
            .queue(consumer.queue())
            .consumerTag(consumer.tag())
            .arguments(arguments);
    Answer answer =
        channels.ask(
            call,
            step,
            consumer.channel(),
            consume.build(),
            Reading.NOTHING,
            late -> abandon(consumer, late));
    switch (answer) {
      case OK -> {
        return true;
      }
      case ABSENT -> {
        channels.giveBack(consumer.channel());
        return false;
      }
      case LOCKED -> {
        channels.giveBack(consumer.channel());
        throw MutexQueues.foreign(call, consumer.queue(), "another client uses it exclusively");
      }
      default -> throw call.unanswered(step);
    }
  }

  /** A late reply to a consume that nobody waits for any more. */
  private void abandon(ActiveConsumer consumer, Answer late) {
    if (late == Answer.OK) {
      log.info("A consumer of queue {} came too late; cancelling", consumer.queue());
      release(consumer);
    } else {
      channels.giveBack(consumer.channel());
    }
  }

  /** Acquires the mutex if it is free. */
  Optional<ActiveConsumer> take(Call call, String queue) {
    if (busy.has(call, queue) && isConsumed(call, queue)) {
      return Optional.empty();
    }
    long number = busy.begin(queue);
    Optional<ActiveConsumer> taken = consumeAtOnce(call, queue);
    if (taken.isEmpty()) {
      busy.end(call, queue, number);
    }
    return taken;
  }

  /**
   * Whether the queue has a consumer. It holds the mutex, is next, or is about to go. Whatever is
   * wrong with the queue is for the consume that follows to find out.
   */
  private boolean isConsumed(Call call, String queue) {
    String step = "look at queue " + queue;
    BorrowedChannel channel = channels.borrow(call, step);
    QueueState.Reader reader = new QueueState.Reader();
    Answer answer;
    try {
      answer =
          channels.ask(
              call,
              step,
              channel,
              QueueArguments.passive(queue),
              reader,
              late -> channels.giveBack(channel));
    } catch (LockException.Unexpected e) {
      log.debug("A look at a mutex failed: {}", e.getMessage());
      return false;
    }
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    channels.giveBack(channel);
    if (answer == Answer.ABSENT) {
      queues.forget(queue);
    }
    return reader.state(answer).consumers() > 0;
  }

  /** A queue that is deleted meanwhile is no sign of a holder. */
  private Optional<ActiveConsumer> consumeAtOnce(Call call, String queue) {
    for (int i = 0; i < TRIES; i++) {
      ActiveConsumer consumer = consume(call, queue, () -> log.trace("A message came"));
      boolean taken = false;
      try {
        if (!consumer.await(AT_ONCE)) {
          inspection.tend(call, consumer);
        }
        taken = consumer.isActive();
        if (taken) {
          return Optional.of(consumer);
        }
        if (!consumer.isGone()) {
          return Optional.empty();
        }
      } finally {
        if (!taken && end(consumer)) {
          channels.giveBack(consumer.channel());
        }
      }
    }
    throw new LockException.Unanswered(
        "RabbitMQ ended %d consumers of queue %s of %s in a row; see who deletes it"
            .formatted(TRIES, queue, call.lock()));
  }

  /**
   * How many consumers the queue has. It is declared, so that looking for it is no error. While an
   * alarm stops publishers it is not, for a new one needs a message, and a look does not.
   */
  int count(Call call, String queue) {
    return QueueRetry.of(
        call,
        queue,
        () -> queues.forget(queue),
        () -> {
          if (!queues.isBlocked()) {
            queues.declareOnce(call, queue);
          }
          QueueState state = rpc.lookUnlessOverdue(call, queue);
          if (!state.exists()) {
            queues.forget(queue);
          }
          return state.answer() == Answer.LOCKED ? 1 : state.consumers();
        });
  }

  /** Makes sure that the queue has a message, as {@link ActiveConsumerInspection} does. */
  void tend(Call call, ActiveConsumer consumer) {
    inspection.tend(call, consumer);
  }

  /** Whether the consumer is still the active one, as {@link ActiveConsumerVerification} proves. */
  HoldStatus verify(Call call, ActiveConsumer consumer) {
    return verification.of(call, consumer);
  }

  /**
   * Gives the mutex back, or stops waiting for it. Never throws, and does not wait. The consumer
   * ends before its message goes back, so the broker sends that to the next consumer. Only the
   * first call has an effect.
   */
  void release(ActiveConsumer consumer) {
    boolean ended = end(consumer);
    // After the cancel was sent, or another try could begin in between.
    busy.forget(consumer.queue());
    if (ended) {
      channels.giveBack(consumer.channel());
    }
  }

  /**
   * As {@link #release}, and waits until the broker has carried it out, or the call is over. The
   * queue has ended the consumer before its channel replies to another request. Does not wait if a
   * verification has a request under way on that channel.
   */
  void releaseAndWait(Call call, ActiveConsumer consumer) {
    boolean ended = end(consumer);
    busy.forget(consumer.queue());
    if (!ended) {
      return;
    }
    BorrowedChannel channel = consumer.channel();
    try {
      Answer answer =
          channels.ask(
              call,
              "leave queue " + consumer.queue(),
              channel,
              ActiveConsumerInspection.NO_CHANGE,
              Reading.NOTHING,
              late -> channels.giveBack(channel));
      if (answer != Answer.TIMED_OUT) {
        channels.giveBack(channel);
      }
    } catch (LockException e) {
      log.debug("A mutex was released with its channel: {}", e.getMessage());
    }
  }

  /** Ends the consumer. False if that had been done; the channel is then not ours any more. */
  private boolean end(ActiveConsumer consumer) {
    ActiveConsumer.State was = consumer.cancel();
    if (was.phase() == Phase.CANCELLED) {
      return false;
    }
    BorrowedChannel channel = consumer.channel();
    if (was.phase() == Phase.GONE) {
      queues.forget(consumer.queue());
      // A restarted queue may take the number of our message for another client's message.
      channels.discard(channel);
      return false;
    }
    try {
      channel.cancel(consumer.tag());
      Delivery message = was.message();
      if (message != null) {
        message.putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      // The channel or the connection is gone, and the consumer with it.
      log.debug("A mutex was released with its channel: {}", BrokerErrors.text(e));
    }
    return true;
  }
}
