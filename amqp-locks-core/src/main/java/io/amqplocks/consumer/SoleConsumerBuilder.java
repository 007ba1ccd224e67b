package io.amqplocks.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.ClientCapabilities;
import io.amqplocks.internal.broker.OwnThreads;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link SoleConsumer}. For one thread. */
public final class SoleConsumerBuilder {

  /** The default of the locks' own heartbeat. */
  private static final int MOST_SECONDS = 10;

  /** For an answer of the broker. */
  static final int TIMEOUT_MILLIS = 10_000;

  /** For a node to accept a connection, however many others there are. */
  private static final int SHORTEST_CONNECT_MILLIS = 1_000;

  private static final Duration LONGEST_GRACE = Duration.ofHours(12);

  final AmqpLock lock;
  private final ConnectionFactory factory;
  private final int connectMillis;
  private List<Address> addresses = List.of();
  final String queue;
  final DeliveryHandler handler;
  final List<LeaderListener> listeners = new ArrayList<>();
  int prefetch = 10;
  Duration grace = Duration.ofSeconds(30);

  /** For how long the active one may try to begin before another one is to try. */
  long longestInVainNanos = Duration.ofMinutes(2).toNanos();

  /** A queue that has neither sent nor answered anything for so long has stalled. */
  long longestUnansweredNanos = Duration.ofMinutes(1).toNanos();

  boolean handsOverOnRequest;
  boolean connectsAhead;
  @Nullable String ingress;
  String routingKey = "";

  SoleConsumerBuilder(
      AmqpLock lock, ConnectionFactory factory, String queue, DeliveryHandler handler) {
    this.lock = Objects.requireNonNull(lock, "lock");
    this.queue = Objects.requireNonNull(queue, "queue");
    this.handler = Objects.requireNonNull(handler, "handler");
    if (queue.isEmpty()) {
      throw new LockException.Invalid(
          "The sole consumer by the %s needs the name of a queue".formatted(lock.id()));
    }
    int bytes = queue.getBytes(UTF_8).length;
    if (bytes > 255) {
      throw new LockException.Invalid(
          "The sole consumer by the %s cannot consume queue '%s': its name has %d bytes, and a queue's name can have 255"
              .formatted(lock.id(), queue, bytes));
    }
    this.factory = Objects.requireNonNull(factory, "factory").clone();
    int heartbeat = factory.getRequestedHeartbeat();
    this.factory.setRequestedHeartbeat(
        heartbeat < 1 ? MOST_SECONDS : Math.min(MOST_SECONDS, heartbeat));
    this.factory.setAutomaticRecoveryEnabled(false);
    this.factory.setTopologyRecoveryEnabled(false);
    // If the application's threads were all at work, nobody would say that a connection broke.
    OwnThreads.give(this.factory);
    // Nor would anybody hear that the queue was deleted.
    ClientCapabilities.restore(this.factory);
    this.factory.setChannelRpcTimeout(TIMEOUT_MILLIS);
    int connecting = factory.getConnectionTimeout();
    connectMillis = connecting < 1 ? TIMEOUT_MILLIS : Math.min(TIMEOUT_MILLIS, connecting);
    this.factory.setConnectionTimeout(connectMillis);
    this.factory.setHandshakeTimeout(Math.min(TIMEOUT_MILLIS, factory.getHandshakeTimeout()));
  }

  /**
   * The nodes of the broker. They are tried in the client library's order until one answers. They
   * share the factory's connection timeout, but each has a second. One that accepts the connection
   * and then says nothing takes the handshake timeout more. Default: the factory's host and port.
   * The client library's factory does not have Spring's {@code spring.rabbitmq.addresses}, so give
   * them here.
   */
  public SoleConsumerBuilder addresses(List<Address> nodes) {
    addresses = List.copyOf(nodes);
    int each = connectMillis / Math.max(1, addresses.size());
    factory.setConnectionTimeout(Math.max(each, Math.min(connectMillis, SHORTEST_CONNECT_MILLIS)));
    return this;
  }

  /**
   * How many messages the broker sends ahead of the handler. The order of messages does not depend
   * on it. Messages that were sent ahead go back to the queue when this consumer stops. The default
   * is 10.
   *
   * @throws LockException.Invalid if it is not above zero, or above 65,535
   */
  public SoleConsumerBuilder prefetch(int messages) {
    if (messages < 1 || messages > 65_535) {
      throw new LockException.Invalid(
          "The prefetch of the sole consumer of queue '%s' is %d; it must be from 1 to 65535"
              .formatted(queue, messages));
    }
    prefetch = messages;
    return this;
  }

  /**
   * How long the handler has to finish its message when this consumer stops. Meanwhile no other one
   * becomes active, unless the lock was lost. If the handler takes longer, its message goes back,
   * and this process stands by again only when the handler has returned. The default is 30 seconds.
   *
   * @throws LockException.Invalid if it is negative, or above 12 hours
   */
  public SoleConsumerBuilder grace(Duration time) {
    if (time.isNegative() || time.compareTo(LONGEST_GRACE) > 0) {
      throw new LockException.Invalid(
          "The grace of the sole consumer of queue '%s' is %s; it must be from zero to %s"
              .formatted(queue, time, LONGEST_GRACE));
    }
    grace = time;
    return this;
  }

  /**
   * Lets other processes ask this consumer to stop, by {@link SoleConsumer#takeOver}, while it is
   * the active one. By default it does not listen to them. It needs the rights to configure and to
   * read a queue with the name of the consumed queue and {@code .hand-over} behind it, which the
   * active consumer reads by one more connection. Every user that may write to the default exchange
   * can end a term. Apache Qpid does not have such a queue, so a start is {@linkplain
   * LockException.Unsupported refused} there.
   *
   * @throws LockException.Invalid if the consumed queue's name is too long for that
   */
  public SoleConsumerBuilder handOverOnRequest() {
    if (queue.getBytes(UTF_8).length + HandOverRequests.SUFFIX.length() > 255) {
      throw new LockException.Invalid(
          "The name of queue '%s' is too long to have a queue with '%s' behind it"
              .formatted(queue, HandOverRequests.SUFFIX));
    }
    handsOverOnRequest = true;
    return this;
  }

  /**
   * Keeps a connection open while this consumer stands by, so that it takes over a few milliseconds
   * sooner. If the connection cannot be opened, or breaks, it is opened again after a pause of 1 to
   * 30 seconds. After a term it is opened a second later. By default a consumer opens its
   * connection when it becomes active, and has none before.
   */
  public SoleConsumerBuilder standByConnected() {
    connectsAhead = true;
    return this;
  }

  /**
   * Consumes by two ways. The queue becomes the <em>tracking queue</em>: a message that is
   * published to the ingress exchange goes to the tracking queue, which keeps it until it is
   * handled. It also goes to an <em>active queue</em>, an exclusive queue that exists only while a
   * consumer is active. It is handled once, by the way on which it comes first. This is the second
   * topology of the mailing list thread that {@code docs/SOURCES.md} names, but for its auto-delete
   * exchange, which can break a virtual host of RabbitMQ 4.3.
   *
   * <p>An ordinary sole consumer does the same with half of the deliveries. Two ways are worth it
   * only for what the table shows:
   *
   * <table>
   *   <caption>What each of them has</caption>
   *   <tr><th></th><th>active queue</th><th>ordinary sole consumer</th><th>single active
   *       consumer of RabbitMQ</th></tr>
   *   <tr><td>a message is handled</td><td>when it comes by the faster way, maybe before a quorum
   *       queue has stored it</td><td>when the queue delivers it</td><td>when the queue delivers
   *       it</td></tr>
   *   <tr><td>whether a consumer is active</td><td>the management API shows, by a queue {@code
   *       <queue>.active.<id>}</td><td>its own process knows</td><td>the management API
   *       says</td></tr>
   *   <tr><td>a message published twice, with one message id</td><td>is handled once by a
   *       consumer</td><td>is handled twice</td><td>is handled twice</td></tr>
   *   <tr><td>one is active at a time</td><td>by the lock</td><td>by the lock</td><td>by the queue,
   *       without doubt or fencing</td></tr>
   *   <tr><td>deliveries of a message</td><td>two</td><td>one</td><td>one</td></tr>
   * </table>
   *
   * <p>Messages need a message id of their own. One without an id is handled from the tracking
   * queue only, and others may overtake it. A consumer remembers the ids of the last 10,000
   * messages that it has handled. A message with such an id is not handled again, whoever
   * publishes it; it is rejected if the handler rejected it then. One that was dead-lettered is
   * handled again. Other processes do not know these ids. So if the active process dies, the
   * next one may handle twice as many as {@linkplain #prefetch the prefetch} again.
   *
   * <p>The ingress exchange, of type direct, fanout, topic or headers, and the tracking queue
   * must exist. A consumer that becomes active binds the queue to the exchange; bind it yourself
   * if messages come before that. Such a binding stays, also if the routing key is changed
   * later. While a consumer is active, there is an exclusive queue {@code <queue>.active.<id>}.
   * The user needs the right to configure, write and read it, to write to the tracking queue, and
   * to read the ingress exchange. That exchange must not be auto-delete, nor be deleted while a
   * consumer may become active: RabbitMQ 4.3 may be left with something of its name that is no
   * exchange. On Apache Qpid, where two consumers of a channel share one prefetch, a start is
   * {@linkplain LockException.Unsupported refused}.
   *
   * @param ingressExchange where the messages are published
   * @param routingKey with which both queues are bound to it, such as {@code #} for all of a topic
   *     exchange; it does not matter to a fanout exchange
   * @throws LockException.Invalid if the name of the exchange is empty, for nothing can be bound to
   *     the default exchange, or if the consumed queue's name is too long
   */
  public SoleConsumerBuilder activeQueue(String ingressExchange, String routingKey) {
    if (Objects.requireNonNull(ingressExchange, "ingressExchange").isEmpty()) {
      throw new LockException.Invalid(
          "The sole consumer of queue '%s' needs the name of an ingress exchange; nothing can be bound to the default exchange"
              .formatted(queue));
    }
    // A UUID comes behind it.
    if (queue.getBytes(UTF_8).length + ActiveQueueSubscription.SUFFIX.length() + 36 > 255) {
      throw new LockException.Invalid(
          "The name of queue '%s' is too long to have an active queue with '%s' and an id behind it"
              .formatted(queue, ActiveQueueSubscription.SUFFIX));
    }
    this.routingKey = Objects.requireNonNull(routingKey, "routingKey");
    ingress = ingressExchange;
    return this;
  }

  /**
   * Adds a listener that is notified when this consumer becomes active, and when it stops being so.
   */
  public SoleConsumerBuilder listener(LeaderListener listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return this;
  }

  /** Opens a connection of that name to one of the nodes. */
  Connection connect(String name) throws IOException, TimeoutException {
    return addresses.isEmpty()
        ? factory.newConnection(name)
        : factory.newConnection(addresses, name);
  }

  /** Whether it needs more of the broker than a queue that can be consumed. */
  boolean needsMoreThanQueues() {
    return ingress != null || handsOverOnRequest;
  }

  /**
   * Throws if the broker does not have what these settings need.
   *
   * @throws LockException.Unsupported with the lock and the remedy
   */
  void require(BrokerProfile broker) {
    if (ingress != null && !broker.hasPrefetchOfConsumers()) {
      throw unsupported(
          "an active queue on %s, where two consumers of a channel share one prefetch"
              .formatted(broker),
          "activeQueue()");
    }
    if (handsOverOnRequest && !broker.expiresQueues()) {
      throw unsupported(
          "requests to hand over on %s, where no queue drops what nobody receives"
              .formatted(broker),
          "handOverOnRequest()");
    }
  }

  private LockException unsupported(String what, String setting) {
    LockException refusal =
        new LockException.Unsupported(
            "The sole consumer of queue '%s' by the %s cannot have %s; leave %s out, or use RabbitMQ"
                .formatted(queue, lock.id(), what, setting));
    refusal.initLock(lock.id());
    return refusal;
  }

  /** Creates the consumer, which connects and consumes nothing before it is started. */
  public SoleConsumer build() {
    return new SoleConsumer(this);
  }
}
