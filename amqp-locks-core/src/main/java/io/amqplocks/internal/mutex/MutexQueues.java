package io.amqplocks.internal.mutex;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueCache;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.UUID;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of mutexes, as one session finds them and gives them their messages.
 *
 * <p>A queue is found by the session's first use of it, and again after it was seen to go. It may
 * go unseen, while the session has no consumer there, and a queue of another kind may take its
 * name: on one without a single active consumer, several clients would receive a message each. So
 * its kind is proven to whoever was sent a message. Each message has an id of its own, so one that
 * is sent again shows that the queue is the one that was proven. Clients declare the queue of a
 * default mutex, and the broker compares the arguments: that proves it. The queue of a persistent
 * mutex is only looked for, and {@link SingleActiveConsumerProof} proves it.
 *
 * <p>A client that finds a queue without a message and without another consumer publishes one. Two
 * clients may do so at once. A surplus message harms nobody, since the active consumer has room for
 * one. The queue refuses messages while it has an idle one (see {@link QueueArguments#mutex}).
 *
 * <p>Queues are declared by a connection that holds nothing: in a part of a cluster without a
 * majority, RabbitMQ may answer a declare by closing the connection (trap 7). Another connection
 * publishes, since an alarm of the broker stops a connection that does.
 */
final class MutexQueues {

  private static final Logger log = LoggerFactory.getLogger(MutexQueues.class);

  private static final Pattern UNIQUE =
      Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private final QueueFinding finding;
  private final AuxiliaryConnection announcer;
  private final SingleFlight<Channel> publishing;
  private final QueueCache found = new QueueCache();

  /** The queues that were proven, by the id of a message that was in it then. */
  private final BoundedMap<String, String> proven = new BoundedMap<>();

  private final QueueCache suspected = new QueueCache();

  MutexQueues(Session session, QueueFinding finding) {
    this.finding = finding;
    announcer = session.announcer();
    publishing = announcer.shared();
  }

  /** Finds the queue if this session has not, or has seen it go. */
  void findOnce(Call call, String queue) {
    if (!found.contains(queue)) {
      find(call, queue);
    }
  }

  /** The queue was deleted, or may have been. */
  void forget(String queue) {
    found.remove(queue);
  }

  /**
   * Whether it is known that the queue, which sent that message, has a single active consumer. The
   * queue may have been replaced since it was proven, by another one of that name. But a message
   * stays in its queue.
   */
  boolean isKindKnown(String queue, String messageId) {
    boolean known = queue.equals(proven.get(messageId));
    if (known) {
      suspected.remove(queue);
    }
    return known;
  }

  /**
   * It was proven that the queue, which sent that message, has a single active consumer. That is
   * remembered by a message that no other queue has.
   */
  void prove(String queue, String messageId) {
    suspected.remove(queue);
    if (isUnique(messageId)) {
      proven.put(messageId, queue);
    }
  }

  private static boolean isUnique(String messageId) {
    return UNIQUE.matcher(messageId).matches();
  }

  /** Whether to find the queue proves its kind. */
  boolean provesKindByFinding() {
    return finding.provesKind();
  }

  /**
   * Whether whoever holds by that message replaces it: it is a stranger's, and to prove the queue
   * again takes many requests. That also sees to it that the queue has another message. To find the
   * queue again takes one request, so there a stranger's message stays.
   */
  boolean isToBeReplaced(Delivery message) {
    return !finding.provesKind() && !isUnique(message.id());
  }

  /**
   * Two consumers of the queue each had a message. The first one may have been ended, by a queue
   * that was replaced meanwhile, and not be told yet. So that proves nothing the first time.
   *
   * @return whether it was seen before
   */
  boolean suspect(String queue) {
    boolean before = suspected.contains(queue);
    suspected.add(queue);
    return before;
  }

  /**
   * Finds the queue. If it has neither messages nor consumers, publishes a message.
   *
   * @throws LockException.NotFound if there is none, and clients must not create it
   * @throws LockException.Conflict if the queue is none of a mutex
   */
  private void find(Call call, String queue) {
    QueueState state = finding.find(call, queue);
    if (state.messages() == 0 && state.consumers() == 0) {
      publish(call, queue);
    }
    found.add(queue);
  }

  /**
   * The queue may be another one than was found. In that, a surplus message makes a holder.
   *
   * @return whether there is such a queue; false if it is just being deleted, or if the node that
   *     was asked does not reach that of the queue
   */
  boolean requireItsKind(Call call, String queue) {
    try {
      find(call, queue);
      return true;
    } catch (LockException.Unexpected e) {
      if (!BrokerErrors.isQueueUnavailable(e)) {
        throw e;
      }
      log.debug("Queue {} is just being deleted, or out of reach", queue);
      return false;
    }
  }

  /**
   * A consume found no queue.
   *
   * @throws LockException.NotFound if clients must not create it
   */
  void missing(Call call, String queue) {
    forget(queue);
    finding.missing(call);
  }

  /** The error for a queue that was deleted so often while it was acquired. */
  LockException deleted(Call call, String queue, int times) {
    return finding.deleted(call, queue, times);
  }

  /** The error for a queue that another kind of lock or a stranger uses. */
  LockException foreign(Call call, String queue, String why) {
    return finding.foreign(call, queue, why);
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
      Channel channel = publishing.get(call, announcer::openShared);
      channel.basicPublish("", queue, message(), new byte[0]);
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "publish to queue " + queue, e);
    }
  }

  /**
   * A restart of the broker destroys it; it is replaced when it is missed. It has no content, so
   * that no limit of bytes keeps it out of the queue.
   */
  private static BasicProperties message() {
    return new BasicProperties.Builder()
        .deliveryMode(1)
        .messageId(UUID.randomUUID().toString())
        .build();
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
