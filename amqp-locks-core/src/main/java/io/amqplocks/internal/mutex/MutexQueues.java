package io.amqplocks.internal.mutex;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueCache;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of mutexes, as one session declares them and gives them their messages.
 *
 * <p>A queue is declared by the session's first use of it, and again after it expired. That checks
 * its arguments as well: on a queue without a single active consumer, several clients would receive
 * a message each. A client that finds a queue without a message and without another consumer
 * publishes one. Two clients may do so at once. A surplus message harms nobody, since the active
 * consumer has room for one. The queue refuses messages while it has an idle one (see {@link
 * QueueArguments#mutex}).
 *
 * <p>Queues are declared by a connection that holds nothing: in a part of a cluster without a
 * majority, RabbitMQ may answer a declare by closing the connection (trap 7). Another connection
 * publishes, since an alarm of the broker stops a connection that does.
 */
final class MutexQueues {

  private static final Logger log = LoggerFactory.getLogger(MutexQueues.class);

  /** A message that a restart of the broker destroys is replaced when it is missed. */
  private static final BasicProperties TRANSIENT =
      new BasicProperties.Builder().deliveryMode(1).build();

  private final BrokerProfile broker;
  private final AuxiliaryConnection side;
  private final AuxiliaryConnection announcer;
  private final SingleFlight<Channel> publishing;
  private final QueueCache declared = new QueueCache();

  MutexQueues(Session session) {
    broker = session.broker();
    side = session.side();
    announcer = session.announcer();
    publishing = announcer.shared();
  }

  /** Declares the queue if this session has not, or has seen it go. */
  void declareOnce(Call call, String queue) {
    if (!declared.contains(queue)) {
      declare(call, queue);
    }
  }

  /** The queue was deleted, or may have been. */
  void forget(String queue) {
    declared.remove(queue);
  }

  /**
   * Declares the queue. If it has neither messages nor consumers, publishes a message.
   *
   * @throws LockException.Conflict if the queue is none of a mutex
   */
  void declare(Call call, String queue) {
    String step = "declare queue " + queue;
    QueueState.Reader reader = new QueueState.Reader();
    Answer answer;
    try {
      answer = side.open(call).rpc().ask(call, step, broker.mutex(queue), reader);
    } catch (LockException.Unexpected e) {
      throw BrokerErrors.isOtherwise(e) ? foreign(call, queue, BrokerErrors.text(e)) : e;
    }
    if (answer == Answer.LOCKED) {
      throw foreign(call, queue, "it is another connection's own");
    }
    if (answer != Answer.OK) {
      throw call.unanswered(step);
    }
    QueueState found = reader.state(answer);
    if (found.messages() == 0 && found.consumers() == 0) {
      publish(call, queue);
    }
    declared.add(queue);
  }

  /** The queue may be another one than was declared. In that, a surplus message makes a holder. */
  void requireItsKind(Call call, String queue) {
    try {
      declare(call, queue);
    } catch (LockException.Unexpected e) {
      if (!BrokerErrors.isQueueUnavailable(e)) {
        throw e;
      }
      log.debug("Queue {} is just being deleted", queue);
    }
  }

  /** The error for a queue that another kind of lock or a stranger uses. */
  static LockException foreign(Call call, String queue, String why) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: %s; delete it, or let all processes use the same algorithm for"
                .formatted(queue, call.lock(), why)
            + " this name");
  }

  /**
   * Publishes a message. Does not wait for the broker, except to open a connection.
   *
   * @return the channel that published, which the broker closes if it refuses the message
   */
  Channel publish(Call call, String queue) {
    if (announcer.blocked().isDone()) {
      throw publishersBlocked(call);
    }
    try {
      announcer.keepOpen();
      Channel channel = publishing.get(call, () -> announcer.openChannel(call));
      channel.basicPublish("", queue, TRANSIENT, new byte[0]);
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "publish to queue " + queue, e);
    }
  }

  /** Whether an alarm of the broker stops publishers, as far as this session knows. */
  boolean isBlocked() {
    return announcer.blocked().isDone();
  }

  /** The error for a call that needs a message while an alarm stops publishers. */
  LockException publishersBlocked(Call call) {
    return new LockException.Unanswered(
        "RabbitMQ accepts no messages for now (%s), and the queue of %s has none; free memory or disk"
                // The alarm may just be over, and its future is another one then.
                .formatted(announcer.blocked().getNow("an alarm"), call.lock())
            + " space at the broker, which ends the alarm");
  }
}
