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
import org.jspecify.annotations.Nullable;
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

  private static final PerSession<ActiveConsumers> DECLARED =
      new PerSession<>(
          session ->
              new ActiveConsumers(
                  session, "mutex-", new DeclaredQueues(session.broker(), session.side())));

  private static final PerSession<ActiveConsumers> ENABLED =
      new PerSession<>(
          session ->
              new ActiveConsumers(session, "persistent-mutex-", new EnabledQueues(session.rpc())));

  /** Somebody who deletes the queue again and again is no reason to try for ever. */
  private static final int TRIES = 3;

  /** A free mutex's message follows the reply to the consume within this time, almost always. */
  private static final long AT_ONCE = Duration.ofNanos(500_000).toNanos();

  private final RpcChannelPool rpc;
  private final ConsumerChannelPool channels;
  private final MutexQueues queues;
  private final ActiveConsumerInspection inspection;
  private final ActiveConsumerVerification verification;
  private final SingleActiveConsumerProof proof;
  private final Map<String, Object> arguments;
  private final BusyMutexes busy = new BusyMutexes();
  private final String tags;
  private final AtomicLong lastTag = new AtomicLong();

  /** The consumers of that session, of queues that clients declare. */
  static ActiveConsumers of(Session session) {
    return DECLARED.of(session);
  }

  /** The consumers of that session, of queues that administrators declare. */
  static ActiveConsumers ofEnabled(Session session) {
    return ENABLED.of(session);
  }

  /**
   * @param tags how the tags of these consumers begin, and of no others in the session. A channel
   *     that is used again tells by the tag whose a late message is
   */
  ActiveConsumers(Session session, String tags, QueueFinding finding) {
    this.tags = tags;
    rpc = session.rpc();
    channels = session.consumerChannels();
    queues = new MutexQueues(session, finding);
    inspection =
        new ActiveConsumerInspection(channels, queues, session.broker().areUnacknowledgedCounted());
    verification = new ActiveConsumerVerification(inspection, queues, channels, rpc);
    proof = new SingleActiveConsumerProof(this, inspection, queues);
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
          queues.findOnce(call, queue);
          return consume(call, queue, channels.borrow(call, step(queue), queue), arrived);
        });
  }

  /**
   * Begins to consume beside an active consumer, which was sent a message.
   *
   * @return null if there is no such queue
   */
  @Nullable ActiveConsumer consumeBeside(Call call, String queue) {
    return consume(
        call,
        queue,
        channels.borrowInExchange(call, step(queue)),
        () -> log.debug("Queue {} served a second consumer", queue));
  }

  private static String step(String queue) {
    return "consume from queue " + queue;
  }

  private @Nullable ActiveConsumer consume(
      Call call, String queue, BorrowedChannel channel, Runnable arrived) {
    ActiveConsumer consumer = consumer(queue, channel, arrived);
    return switch (begin(call, consumer, false)) {
      case OK -> consumer;
      case LOCKED -> throw queues.foreign(call, queue, "another client uses it exclusively");
      // The next try declares it.
      default -> {
        queues.missing(call, queue);
        yield null;
      }
    };
  }

  /**
   * Whether the queue, which this session consumes, refuses an exclusive consumer. Every classic
   * queue does, and no other one. If it is gone, it admits none either.
   */
  boolean refusesExclusive(Call call, String queue) {
    ActiveConsumer exclusive =
        consumer(
            queue,
            channels.borrowInExchange(call, step(queue)),
            () -> log.debug("Queue {} served an exclusive consumer beside another one", queue));
    if (begin(call, exclusive, true) != Answer.OK) {
      return true;
    }
    if (end(exclusive)) {
      // The broker remembers what kind of queue the channel consumed. That may be replaced next.
      channels.discard(exclusive.channel());
    }
    return false;
  }

  private ActiveConsumer consumer(String queue, BorrowedChannel channel, Runnable arrived) {
    return new ActiveConsumer(queue, tags + lastTag.incrementAndGet(), channel, arrived);
  }

  /** Consumes. Gives the channel back unless the answer is OK. */
  private Answer begin(Call call, ActiveConsumer consumer, boolean exclusive) {
    String step = step(consumer.queue());
    Basic.Consume.Builder consume =
        new Basic.Consume.Builder()
            .queue(consumer.queue())
            .consumerTag(consumer.tag())
            .exclusive(exclusive)
            .arguments(arguments);
    Answer answer;
    try {
      answer =
          channels.ask(
              call,
              step,
              consumer.channel(),
              consume.build(),
              Reading.NOTHING,
              late -> abandon(consumer, late));
    } catch (LockException.Unexpected e) {
      // A quorum queue of 3.x does not know the argument.
      throw BrokerErrors.isOtherwise(e)
          ? queues.foreign(call, consumer.queue(), BrokerErrors.text(e))
          : e;
    }
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    if (answer != Answer.OK) {
      channels.giveBack(consumer.channel());
    }
    return answer;
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
    BorrowedChannel channel = channels.borrow(call, step, queue);
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
        taken = consumer.isActive() && isSingle(call, consumer);
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
    throw queues.deleted(call, queue, TRIES);
  }

  /**
   * How many consumers the queue has. It is found before, so that looking for it is no error. While
   * an alarm stops publishers it is not, for a new one needs a message, and a look does not.
   */
  int count(Call call, String queue) {
    return QueueRetry.of(
        call,
        queue,
        () -> queues.forget(queue),
        () -> {
          if (!queues.isBlocked()) {
            queues.findOnce(call, queue);
          }
          QueueState state = rpc.lookUnlessOverdue(call, queue);
          if (!state.exists()) {
            queues.forget(queue);
          }
          return state.answer() == Answer.LOCKED ? 1 : state.consumers();
        });
  }

  /**
   * Whether no other consumer is served beside this one, which was sent a message. If it cannot be
   * told because the queue went, the consumer is gone.
   *
   * @throws LockException.Conflict if the queue is none of a mutex
   * @throws LockException.Unanswered if the broker does not say what kind of queue it is
   */
  boolean isSingle(Call call, ActiveConsumer active) {
    String message = active.messageId();
    if (queues.isKindKnown(active.queue(), message)) {
      active.prove();
      return true;
    }
    boolean proven = active.isProven() || isProven(call, active);
    if (active.isGone()) {
      return false;
    }
    if (!proven) {
      throw new LockException.Unanswered(
          "RabbitMQ does not say whether queue %s is one of a mutex: the node that was asked does not reach the queue's"
              .formatted(active.queue()));
    }
    active.prove();
    queues.prove(active.queue(), message);
    return true;
  }

  private boolean isProven(Call call, ActiveConsumer active) {
    return queues.provesKindByFinding() ? isDeclared(call, active) : proof.of(call, active);
  }

  /**
   * Whether the consumer's queue is known to be one of a mutex. If the queue went, the consumer is
   * gone. But a declare is on another connection, perhaps to another node. That may have lost the
   * queue's node, and takes the queue for gone. So the consumer's own channel is asked too.
   */
  private boolean isDeclared(Call call, ActiveConsumer consumer) {
    if (queues.requireItsKind(call, consumer.queue())) {
      return true;
    }
    QueueState unused = inspection.look(call, consumer);
    return false;
  }

  /**
   * Proves the kind of the queue of a consumer that stands by. So its message will be held without
   * asking another connection, which may have to be opened first. If that cannot be done now, the
   * consumer goes on to stand by.
   *
   * @throws LockException.Conflict if the queue is none of a mutex
   */
  void proveWhileWaiting(Call call, ActiveConsumer waiting) {
    if (waiting.isProven() || waiting.isGone() || !queues.provesKindByFinding()) {
      return;
    }
    try {
      if (isDeclared(call, waiting)) {
        waiting.prove();
      }
    } catch (LockException.Conflict e) {
      throw e;
    } catch (LockException e) {
      log.debug("A queue is not proven yet: {}", e.getMessage());
    }
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
      Delivery message = was.message();
      boolean foreign = message != null && consumer.isProven() && queues.isToBeReplaced(message);
      if (message != null && foreign) {
        // A stranger's. It would make each holder prove the queue again. Another message comes here
        // for it, and is put back: RabbitMQ 3.x sends the next consumer nothing after no more than
        // a cancel.
        message.remove();
      }
      channel.cancel(consumer.tag());
      if (message != null && !foreign) {
        message.putBack();
      }
    } catch (IOException | ShutdownSignalException e) {
      // The channel or the connection is gone, and the consumer with it.
      log.debug("A mutex was released with its channel: {}", BrokerErrors.text(e));
    }
    return true;
  }
}
