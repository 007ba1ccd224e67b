package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells those who wait when a holder's queue went with its connection, where the broker has the plugin
 * {@code rabbitmq_event_exchange} and lets us hear it; it needs {@code read} on {@code
 * amq.rabbitmq.event}. A holder that gives its queue back says so by another way; then the event names a
 * user, and is none of ours.
 *
 * <p>Concurrency: begun once for a connection; those who listen are in one concurrent map.
 */
final class QueueDeaths {

  private static final Logger log = LoggerFactory.getLogger(QueueDeaths.class);

  private static final String EVENTS = "amq.rabbitmq.event";

  /** Who deletes queues whose connection has gone. */
  private static final String THE_BROKER = "rmq-internal";

  private final Connection connection;
  private final String virtualHost;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final Map<Wakeup, Predicate<String>> listening = new ConcurrentHashMap<>();

  QueueDeaths(Connection connection, String virtualHost) {
    this.connection = connection;
    this.virtualHost = virtualHost;
  }

  /** Calls when one of those queues dies. */
  void listen(Wakeup wakeup, Predicate<String> queues) {
    listening.put(wakeup, queues);
  }

  void leave(Wakeup wakeup) {
    listening.remove(wakeup);
  }

  boolean isBegun() {
    return begun.get();
  }

  /** Begins to hear the broker, if there is something to hear; takes a few round trips. */
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
