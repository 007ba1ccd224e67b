package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.Declare;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import java.util.Map;
import java.util.Optional;

/**
 * What a broker can do, and what it has to be told. It is read from the server properties of a
 * connection. No other code of the locks asks which product or version a broker is, so that a
 * difference between brokers has a name and one place.
 */
public interface BrokerProfile {

  /** The profile of the broker at the other end of the connection. */
  static BrokerProfile of(Connection connection) {
    return of(connection.getServerProperties());
  }

  /** The profile of a broker with those server properties. */
  static BrokerProfile of(Map<String, Object> serverProperties) {
    ServerVersion server = ServerVersion.of(serverProperties);
    return server.product().startsWith(QpidProfile.PRODUCT)
        ? new QpidProfile(server)
        : new RabbitProfile(server);
  }

  /** A warning for operators if nobody has tried the locks on such a broker. */
  Optional<String> concern();

  /**
   * The major version, which counters and tokens name: their numbers begin anew with another one. 0
   * if it cannot be read.
   */
  int major();

  /**
   * Throws if the broker cannot do what locks of that kind need.
   *
   * @throws LockException.Unsupported with the lock and the remedy
   */
  void requireKind(Call call);

  /**
   * Throws if the broker has no quorum queues, which count fencing tokens.
   *
   * @throws LockException.FenceUnavailable with the lock and the remedy
   */
  void requireFences(Call call);

  /**
   * Throws if the broker cannot keep tokens in queues of that type.
   *
   * @throws LockException.Unsupported with the lock and the remedy
   */
  void requireTokens(Call call, TokenQueueType type);

  /**
   * Throws if tokens of the plain protocol are not safe there. Their queue has one name forever, so
   * who finds it cannot know whether it was deleted meanwhile.
   *
   * @throws LockException.Unsupported with the lock and the remedy
   */
  void requirePlainTokens(Call call);

  /** The queue of a mutex. */
  Declare mutex(String queue);

  /** The queue of a token semaphore. */
  Declare tokens(String queue, TokenQueueType type);

  /** The queue of a counter or a record, whose one message is returned forever. */
  Declare counter(String queue);

  /** A queue that its connection owns. */
  Declare exclusive(String queue);

  /** The queue that represents a slot, which keeps as few probes as the broker allows. */
  Declare slot(String queue);

  /** The queue by which waiters are notified. */
  Declare wake(String queue);

  /** The way to look for many queues at once, where the settings want that one. */
  ProbeKind probing(ProbeKind wanted);

  /**
   * Whether a returned probe is nacked before it comes back. Then a nack says nothing, and the
   * return is the answer. Else the return comes first, and the confirm is the end.
   */
  boolean returnsAfterNack();

  /**
   * Whether the queue of a slot keeps the newest probe. Such a message is no sign that somebody
   * else declared the queue.
   */
  boolean keepsNewestProbe();

  /**
   * Whether the broker closes the connection, and not the channel alone, of a client that declares
   * an exclusive queue of another one. Then who contends for one needs a connection of its own.
   */
  boolean isConnectionClosedByLostRace();

  /** Whether a queue counts how often a message of it was returned. */
  boolean countsReturns();

  /**
   * The arguments of a consumer.
   *
   * @param priority consumers with the highest priority are served first
   * @param classic whether the queue is certainly a classic one
   */
  Map<String, Object> consume(int priority, boolean classic);

  /**
   * Whether a get from a queue that does not exist closes the connection, and not the channel
   * alone. Then such a queue must be looked for first.
   */
  boolean isConnectionClosedByGet();

  /**
   * Whether a message that was delivered stays its receiver's for as long as its channel is open
   * and its queue exists. If so, there is no need to prove that.
   */
  boolean areDeliveriesKept();

  /**
   * Whether a queue with a single active consumer may serve nobody, though consumers wait for it.
   * Then a waiter has to begin anew now and then.
   */
  boolean mayForgetWaiters();

  /** Whether a consumer is told that its queue was deleted. If not, it has to look now and then. */
  boolean tellsOfDeletedQueues();

  /**
   * Whether a quorum queue admits a consumer that holds a lock, beside others and without an error
   * (trap 16).
   */
  boolean admitsHoldersOnQuorumQueues();

  /** Whether the number of messages in a queue includes those that are not acknowledged. */
  boolean areUnacknowledgedCounted();

  /** Whether each consumer has a prefetch of its own. Else all of a channel share one. */
  boolean hasPrefetchOfConsumers();

  /** Whether a queue can drop what nobody receives at once, and itself when nobody uses it. */
  boolean expiresQueues();

  /**
   * Whether a message that is nacked goes back to its place in a quorum queue, uncounted. If not,
   * it goes to the end.
   */
  boolean nackKeepsPlace();

  /**
   * Whether the broker takes a message back that is not acknowledged for half an hour.
   *
   * @param plain whether its queue was declared without arguments
   */
  boolean hasConsumerTimeout(boolean plain);
}
