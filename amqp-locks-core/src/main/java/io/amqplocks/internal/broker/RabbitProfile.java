package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.Declare;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * RabbitMQ, in all versions that the locks are tested on. A broker that nobody has tried is treated
 * like one, except that it has no fencing tokens.
 */
record RabbitProfile(ServerVersion server) implements BrokerProfile {

  @Override
  public Optional<String> concern() {
    return server.concern();
  }

  @Override
  public int major() {
    return server.major();
  }

  @Override
  public void requireKind(Call call) {
    // RabbitMQ has all that any of them needs. What another broker lacks, it says itself.
  }

  @Override
  public void requireFences(Call call) {
    if (!server.isRabbit() || server.major() == 0) {
      throw new LockException.FenceUnavailable(
          "There are no fencing tokens of %s: they need quorum queues of RabbitMQ, and this broker is %s"
              .formatted(call.lock(), server));
    }
  }

  @Override
  public void requireTokens(Call call, TokenQueueType type) {
    if (!server.isRabbit() || server.major() == 0) {
      throw new LockException.Unsupported(
          "The %s cannot be administered: that needs quorum queues of RabbitMQ, and this broker is %s"
              .formatted(call.lock(), server));
    }
  }

  @Override
  public void requirePlainTokens(Call call) {
    // The verification of a token proves that it is still held.
  }

  @Override
  public Declare mutex(String queue) {
    return QueueArguments.mutex(queue);
  }

  @Override
  public Declare tokens(String queue, TokenQueueType type) {
    return QueueArguments.tokens(queue, type, server.major(), server.minor());
  }

  @Override
  public Declare counter(String queue) {
    return QueueArguments.counter(queue, server.major());
  }

  @Override
  public Declare exclusive(String queue) {
    return QueueArguments.exclusive(queue);
  }

  @Override
  public Declare slot(String queue) {
    return QueueArguments.slot(queue);
  }

  @Override
  public Declare wake(String queue) {
    return QueueArguments.wake(queue);
  }

  @Override
  public ProbeKind probing(ProbeKind wanted) {
    return wanted;
  }

  @Override
  public boolean returnsAfterNack() {
    return false;
  }

  @Override
  public boolean keepsNewestProbe() {
    return false;
  }

  @Override
  public boolean isConnectionClosedByLostRace() {
    return false;
  }

  @Override
  public boolean countsReturns() {
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If a classic queue's process dies, a channel up to 3.13 silently consumes the new process's
   * messages. It then answers these by the numbers of the old process, which may be another
   * client's. The argument prevents this: the channel then reports that the consumer ended (trap
   * 22).
   */
  @Override
  public Map<String, Object> consume(int priority, boolean classic) {
    Map<String, Object> arguments = new HashMap<>();
    if (priority != 0) {
      arguments.put("x-priority", priority);
    }
    if (classic && server.major() < 4) {
      arguments.put("x-cancel-on-ha-failover", true);
    }
    return arguments;
  }

  @Override
  public boolean mayForgetWaiters() {
    return false;
  }

  @Override
  public boolean tellsOfDeletedQueues() {
    return true;
  }

  /** On 3.x it refuses an argument of {@link #consume}. */
  @Override
  public boolean admitsHoldersOnQuorumQueues() {
    return server.major() >= 4;
  }

  @Override
  public boolean areUnacknowledgedCounted() {
    return false;
  }

  @Override
  public boolean isConnectionClosedByGet() {
    return false;
  }

  /** No: a queue's process may die and begin anew, and an operator may requeue messages. */
  @Override
  public boolean areDeliveriesKept() {
    return false;
  }

  @Override
  public boolean hasPrefetchOfConsumers() {
    return true;
  }

  @Override
  public boolean expiresQueues() {
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>From 4.0 on, where a quorum queue has a limit of deliveries by default. A queue without a
   * limit puts such messages to its end.
   */
  @Override
  public boolean nackKeepsPlace() {
    return server.major() >= 4;
  }

  /**
   * {@inheritDoc}
   *
   * <p>RabbitMQ 3.10 and 3.11 do that for all queues after {@code consumer_timeout}, which no
   * client can see or change. From 3.12 on our queues are declared with a longer timeout, or have
   * none. A plain queue has no arguments, so the broker's own timeout applies until 4.3, where
   * classic queues have none (trap 9).
   */
  @Override
  public boolean hasConsumerTimeout(boolean plain) {
    return !server.isAtLeast(3, 12) || (plain && !server.isAtLeast(4, 3));
  }

  @Override
  public String toString() {
    return server.toString();
  }
}
