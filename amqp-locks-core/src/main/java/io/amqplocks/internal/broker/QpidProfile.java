package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.Declare;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.ProbeKind;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Apache Qpid Broker-J, which runs in a JVM of its own or in a test's. Its queues live in that JVM:
 * they have no process that may die by itself, and no replicas.
 *
 * <p>Whoever is too late for an exclusive queue or an exclusive consumer loses its connection (530,
 * 403). So each lease of a slot semaphore has a connection of its own. The other locks that rely on
 * these are refused. Fencing tokens are refused because no queue counts how often a message was
 * returned. What is said here was seen on 10.1 and read in its source, {@code AMQChannel} and
 * {@code QueueArgumentsConverter}.
 */
record QpidProfile(ServerVersion server) implements BrokerProfile {

  static final String PRODUCT = "Apache Qpid Broker-J";

  private static final Set<LockKind> KINDS =
      EnumSet.of(LockKind.MUTEX, LockKind.SLOT_SEMAPHORE, LockKind.TOKEN_SEMAPHORE);

  private static final String WORKS =
      "mutexes, slot semaphores, and token semaphores of CLASSIC queues work there and nothing else"
          + " does";

  /** The newest message drops the one before. */
  private static final Map<String, Object> KEEPS_ONE =
      Map.of("qpid.policy_type", "ring", "qpid.max_count", 1);

  @Override
  public Optional<String> concern() {
    return Optional.of(
        "This broker is %s: %s; it is for trying the locks, and RabbitMQ is for relying on them"
            .formatted(server, WORKS));
  }

  @Override
  public int major() {
    return server.major();
  }

  @Override
  public void requireKind(Call call) {
    if (call.of() != null && !KINDS.contains(call.lock().kind())) {
      throw new LockException.Unsupported(
          "There is no %s on %s: %s; use one of these, or RabbitMQ"
              .formatted(call.lock(), server, WORKS));
    }
  }

  @Override
  public void requireFences(Call call) {
    throw new LockException.FenceUnavailable(
        "There are no fencing tokens of %s: they need quorum queues of RabbitMQ, and this broker is %s"
            .formatted(call.lock(), server));
  }

  @Override
  public void requireTokens(Call call, TokenQueueType type) {
    if (type != TokenQueueType.CLASSIC) {
      throw new LockException.Unsupported(
          "The tokens of %s cannot be kept in a %s queue on %s; use CLASSIC, or RabbitMQ"
              .formatted(call.lock(), type, server));
    }
  }

  @Override
  public void requirePlainTokens(Call call) {
    throw new LockException.Unsupported(
        "The %s follows the plain protocol, which is not safe on %s; use it without token naming, or RabbitMQ"
            .formatted(call.lock(), server));
  }

  /**
   * {@inheritDoc}
   *
   * <p>It stays when nobody uses it, for it would have to be deleted with its last consumer, and
   * whoever consumes at that moment would lose its connection.
   */
  @Override
  public Declare mutex(String queue) {
    return new Declare.Builder()
        .queue(queue)
        .durable()
        .arguments(Map.of("x-single-active-consumer", true))
        .build();
  }

  @Override
  public Declare tokens(String queue, TokenQueueType type) {
    return durable(queue);
  }

  @Override
  public Declare counter(String queue) {
    return durable(queue);
  }

  /** It knows none of our arguments, and closes the connection that sends one (542). */
  private static Declare durable(String queue) {
    return new Declare.Builder().queue(queue).durable().build();
  }

  @Override
  public Declare exclusive(String queue) {
    return new Declare.Builder().queue(queue).exclusive().build();
  }

  @Override
  public Declare slot(String queue) {
    return keepingOne(queue);
  }

  /**
   * {@inheritDoc}
   *
   * <p>It stays when nobody waits, like the queue of a mutex, and may keep an old notification.
   * That costs the next waiter one attempt, and a pause of 3 ms before the first one.
   */
  @Override
  public Declare wake(String queue) {
    return keepingOne(queue);
  }

  private static Declare keepingOne(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(KEEPS_ONE).build();
  }

  /**
   * {@inheritDoc}
   *
   * <p>By confirms only. A passive declare of another client's exclusive queue closes the
   * connection (530), and so does an unroutable message in a transaction (312).
   */
  @Override
  public ProbeKind probing(ProbeKind wanted) {
    return ProbeKind.CONFIRM;
  }

  @Override
  public boolean returnsAfterNack() {
    return true;
  }

  @Override
  public boolean keepsNewestProbe() {
    return true;
  }

  @Override
  public boolean isConnectionClosedByLostRace() {
    return true;
  }

  @Override
  public boolean countsReturns() {
    return false;
  }

  /** A consumer without a priority comes before all that have one, so each has one. */
  @Override
  public Map<String, Object> consume(int priority, boolean classic) {
    return Map.of("x-priority", priority);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Seen with eight clients that come and go: all of them waited, and nobody was served.
   */
  @Override
  public boolean mayForgetWaiters() {
    return true;
  }

  @Override
  public boolean tellsOfDeletedQueues() {
    return false;
  }

  /** It has no quorum queues. */
  @Override
  public boolean admitsHoldersOnQuorumQueues() {
    return false;
  }

  @Override
  public boolean areUnacknowledgedCounted() {
    return true;
  }

  @Override
  public boolean isConnectionClosedByGet() {
    return true;
  }

  @Override
  public boolean areDeliveriesKept() {
    return true;
  }

  /** A channel has one credit (source). */
  @Override
  public boolean hasPrefetchOfConsumers() {
    return false;
  }

  @Override
  public boolean expiresQueues() {
    return false;
  }

  @Override
  public boolean nackKeepsPlace() {
    return true;
  }

  @Override
  public boolean hasConsumerTimeout(boolean plain) {
    return false;
  }

  @Override
  public String toString() {
    return server.toString();
  }
}
