package io.amqplocks.internal.readwrite;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueCache;
import io.amqplocks.internal.broker.QueueRetry;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.consuming.Access;
import io.amqplocks.internal.consuming.HoldingConsumer;
import io.amqplocks.internal.consuming.HoldingConsumers;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/**
 * The queues of read-write locks, as one session declares and consumes them.
 *
 * <p>A queue is declared by the session's first use of it, and again after it expired or was
 * deleted. That checks that it is a classic queue: only these refuse a consumer beside an exclusive
 * one (trap 16). Queues are declared by a connection that holds nothing: in a part of a cluster
 * without a majority, RabbitMQ may answer a declare by closing the connection (trap 7).
 *
 * <p>The queue may have been replaced since. So a writer declares it again when it consumes it, on
 * brokers whose quorum queues would have admitted the writer. A consumer ends with its queue. So if
 * the consumer is still there, the declared queue is the one that it consumes. Readers do not check
 * that, because a queue of any kind may have several of them.
 */
final class ReadWriteQueues {

  private static final PerSession<ReadWriteQueues> SESSIONS =
      new PerSession<>(ReadWriteQueues::new);

  private final AuxiliaryConnection declaring;
  private final HoldingConsumers consumers;
  private final boolean mayBeOnAQuorumQueue;
  private final QueueCache declared = new QueueCache();

  /** The queues, as that session uses them. */
  static ReadWriteQueues of(Session session) {
    return SESSIONS.of(session);
  }

  private ReadWriteQueues(Session session) {
    declaring = session.side();
    consumers = HoldingConsumers.of(session);
    mayBeOnAQuorumQueue = session.broker().admitsHoldersOnQuorumQueues();
  }

  /** How many leases there are. */
  int holders(Call call, String queue) {
    declareOnce(call, queue);
    return consumers
        .count(call, queue)
        .orElseGet(
            () -> {
              declared.remove(queue);
              return 0;
            });
  }

  /**
   * Consumes the queue with that access. Declares it first, unless this session already has.
   *
   * @return empty if those who hold the lock do not admit it
   * @throws LockException.Conflict if the queue is none of a read-write lock
   * @throws LockException.Unanswered if the broker did not reply in time, or the queue is deleted
   *     again and again
   */
  Optional<HoldingConsumer> take(Call call, String queue, Access access) {
    return QueueRetry.of(
        call,
        queue,
        () -> declared.remove(queue),
        () -> {
          declareOnce(call, queue);
          HoldingConsumer consumer = consumers.prepare(call, queue);
          Answer answer = consumers.consume(call, consumer, access);
          if (answer == Answer.ABSENT) {
            return null;
          }
          if (answer == Answer.OK && access == Access.EXCLUSIVE && mayBeOnAQuorumQueue) {
            prove(call, queue, consumer);
          }
          return answer == Answer.OK ? Optional.of(consumer) : Optional.empty();
        });
  }

  /** Releases the consumer and throws if the queue is none of a read-write lock. */
  private void prove(Call call, String queue, HoldingConsumer consumer) {
    try {
      declare(call, queue);
    } catch (LockException e) {
      declared.remove(queue);
      consumers.release(Call.on(call.lock(), call.bound(), call.ticker()), consumer);
      throw e;
    }
  }

  /**
   * Declares the queue if this session has not, or has seen it go. While another client declares it
   * too, 3.10 may reply that its node is down.
   *
   * @throws LockException.Conflict if the queue is none of a read-write lock
   */
  void declareOnce(Call call, String queue) {
    if (!declared.contains(queue)) {
      boolean unused =
          QueueRetry.of(
              call,
              queue,
              () -> {},
              () -> {
                declare(call, queue);
                return true;
              });
      declared.add(queue);
    }
  }

  private void declare(Call call, String queue) {
    String step = "declare queue " + queue;
    Answer answer;
    try {
      RpcChannelPool rpc = declaring.open(call).rpc();
      answer = rpc.askUnlessOverdue(call, step, QueueArguments.readWrite(queue), queue);
    } catch (LockException.Unexpected e) {
      throw BrokerErrors.isOtherwise(e) ? foreign(call, queue, BrokerErrors.text(e)) : e;
    }
    if (answer == Answer.LOCKED) {
      throw foreign(call, queue, "it is another connection's own");
    }
  }

  private static LockException foreign(Call call, String queue, String why) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: %s; delete it, or use another name or prefix"
            .formatted(queue, call.lock(), why));
  }
}
