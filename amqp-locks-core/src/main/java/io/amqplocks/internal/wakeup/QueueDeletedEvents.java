package io.amqplocks.internal.wakeup;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BrokerErrors;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes waiters when a holder's queue was deleted together with its connection. The broker needs
 * the plugin {@code rabbitmq_event_exchange}, and the user needs {@code read} on {@code
 * amq.rabbitmq.event}. A holder that releases its queue notifies waiters in another way. The event
 * of that deletion names a user, and is ignored.
 *
 * <p>Concurrency: there is one object for an open connection, and it starts to consume once. The
 * threads that find a new connection race to put their object into a concurrent map, and all use
 * the winner's. A connection that is replaced stays open for a while, and has its own object until
 * it closes. The listeners are in one concurrent map.
 */
final class QueueDeletedEvents {

  private static final Logger log = LoggerFactory.getLogger(QueueDeletedEvents.class);

  private static final String EVENTS = "amq.rabbitmq.event";

  /** The user that deletes the queues of a closed connection. */
  private static final String THE_BROKER = "rmq-internal";

  private final Connection connection;
  private final String virtualHost;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final Map<WakeSubscription, Predicate<String>> listening = new ConcurrentHashMap<>();

  private QueueDeletedEvents(Connection connection, String virtualHost) {
    this.connection = connection;
    this.virtualHost = virtualHost;
  }

  /**
   * The events on that connection. A closed one gets an object that nobody else uses, and that can
   * begin nothing.
   *
   * @param all the objects of all open connections
   */
  static QueueDeletedEvents of(
      Connection connection,
      String virtualHost,
      ConcurrentMap<Connection, QueueDeletedEvents> all) {
    QueueDeletedEvents mine = new QueueDeletedEvents(connection, virtualHost);
    QueueDeletedEvents first = all.putIfAbsent(connection, mine);
    if (first != null) {
      return first;
    }
    // The client calls it at once if the connection has closed by now.
    connection.addShutdownListener(cause -> all.remove(connection, mine));
    return mine;
  }

  /** Wakes the listener when one of the given queues is deleted in this way. */
  void listen(WakeSubscription wakeup, Predicate<String> queues) {
    listening.put(wakeup, queues);
  }

  void leave(WakeSubscription wakeup) {
    listening.remove(wakeup);
  }

  boolean isBegun() {
    return begun.get();
  }

  /** Starts to consume the broker's events, if there are any; takes a few round trips. */
  void begin(String ownQueue) {
    if (!begun.compareAndSet(false, true)) {
      return;
    }
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        return;
      }
      channel.exchangeDeclarePassive(EVENTS);
      channel.queueDeclare(ownQueue, false, true, false, Map.of("x-max-length", 10_000));
      channel.queueBind(ownQueue, EVENTS, "queue.deleted");
      channel.basicConsume(ownQueue, true, new Hearing(channel));
      log.debug("RabbitMQ will tell of holders that die");
    } catch (IOException | ShutdownSignalException e) {
      log.debug("RabbitMQ tells of no events here: {}", BrokerErrors.text(e));
    }
  }

  private final class Hearing extends DefaultConsumer {

    Hearing(Channel channel) {
      super(channel);
    }

    @Override
    public void handleDelivery(
        String tag, Envelope envelope, BasicProperties properties, byte[] body) {
      Map<String, Object> event = properties.getHeaders();
      if (event != null
          && THE_BROKER.equals(String.valueOf(event.get("user_who_performed_action")))
          && virtualHost.equals(String.valueOf(event.get("vhost")))) {
        died(String.valueOf(event.get("name")));
      }
    }
  }

  private void died(String queue) {
    listening.forEach(
        (wakeup, queues) -> {
          if (queues.test(queue)) {
            wakeup.wake();
          }
        });
  }
}
