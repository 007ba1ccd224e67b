package io.amqplocks.prover.run;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.prover.check.MessageCheck;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.ConsumedQueue;
import io.amqplocks.prover.driver.CoreLocks;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.History;
import io.amqplocks.test.Broker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes numbered messages to the queues that clients consume in a round, one after the other to
 * each queue, and writes down which of them the broker has confirmed. A message that was not
 * confirmed is published again with the same message id, and so is one in ten. In the end it has
 * what is left handled.
 *
 * <p>Concurrency: one thread publishes. What is called after that waits for its end.
 */
final class Publisher {

  private static final Logger log = LoggerFactory.getLogger(Publisher.class);

  private static final String NAME = "publisher";
  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final int ANSWER_MILLIS = 5_000;
  private static final int CONFIRM_MILLIS = 2_000;

  /** How long after the end of the round the last message may take until it is confirmed. */
  private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final int TWICE = 10;

  private final List<LockRef> locks;
  private final Broker broker;
  private final String prefix;
  private final History history;

  Publisher(Plan plan, Broker broker, String prefix, History history) {
    locks =
        plan.locks().stream().map(Plan.Slots::lock).filter(lock -> lock.kind().consumes()).toList();
    this.broker = broker;
    this.prefix = prefix;
    this.history = history;
  }

  private ConsumedQueue queue(LockRef lock) {
    return ConsumedQueue.of(prefix, lock);
  }

  /** Makes all queues, and their exchanges. */
  void create() {
    for (int left = 5; ; left--) {
      try {
        declare();
        return;
      } catch (IOException | ShutdownSignalException e) {
        if (left == 0) {
          throw new IllegalStateException("There are no queues to consume", e);
        }
      }
    }
  }

  private void declare() throws IOException {
    try (Connection connection = connect()) {
      Channel channel = connection.createChannel();
      for (int i = 0; i < locks.size(); i++) {
        LockRef lock = locks.get(i);
        String type = i % 2 == 0 ? "quorum" : "classic";
        channel.queueDeclare(queue(lock).name(), true, false, false, Map.of("x-queue-type", type));
        channel.exchangeDeclare(queue(lock).ingress(), "fanout", true);
        channel.queueBind(queue(lock).name(), queue(lock).ingress(), "");
        history.told(NAME, Command.create(i, lock, 1));
      }
    }
  }

  private Connection connect() throws IOException {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setAutomaticRecoveryEnabled(false);
    factory.setConnectionTimeout(ANSWER_MILLIS);
    factory.setHandshakeTimeout(ANSWER_MILLIS);
    factory.setChannelRpcTimeout(ANSWER_MILLIS);
    try {
      return factory.newConnection("prover-publisher");
    } catch (TimeoutException e) {
      throw new IOException("The broker does not answer", e);
    }
  }

  /**
   * Publishes until that time.
   *
   * @return is done when no message is on its way any more, 20 seconds later at most
   */
  CompletableFuture<Void> publish(long until) {
    return CompletableFuture.runAsync(
        () -> {
          long number = 1;
          while (!locks.isEmpty() && System.nanoTime() < until) {
            number = publish(number, until);
            Round.pause(Duration.ofMillis(50));
          }
        },
        task -> new Thread(task, NAME).start());
  }

  /** By one connection. Returns the number of the first message that is not confirmed. */
  private long publish(long first, long until) {
    long number = first;
    Connection connection = null;
    try {
      connection = connect();
      Channel channel = connection.createChannel();
      channel.confirmSelect();
      for (; System.nanoTime() < until; number++) {
        if (!publish(channel, number, until + LAST_NANOS)) {
          return number;
        }
        for (int i = 0; i < locks.size(); i++) {
          did(i, What.PUBLISHED, number);
        }
        Round.pause(PAUSE);
      }
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      log.debug("Publishing stopped at message {}", number, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted", e);
    } finally {
      if (connection != null) {
        connection.abort(CONFIRM_MILLIS);
      }
    }
    return number;
  }

  /**
   * Until the broker has confirmed it for all queues, which it refuses if one has just ended.
   *
   * @return whether it was confirmed before that time
   */
  private boolean publish(Channel channel, long number, long end)
      throws IOException, InterruptedException, TimeoutException {
    AMQP.BasicProperties properties =
        new AMQP.BasicProperties.Builder().messageId(Long.toString(number)).deliveryMode(2).build();
    boolean confirmed = false;
    while (!confirmed && System.nanoTime() < end) {
      for (LockRef lock : locks) {
        for (int i = 0; i < (number % TWICE == 0 ? 2 : 1); i++) {
          channel.basicPublish(queue(lock).ingress(), "", properties, new byte[0]);
        }
      }
      confirmed = channel.waitForConfirms(CONFIRM_MILLIS);
    }
    return confirmed;
  }

  /**
   * Consumes what clients have left, until all that the broker confirmed is handled.
   *
   * @param patience how long that may take for each queue
   */
  void drain(AmqpLocks observer, Duration patience) {
    for (int i = 0; i < locks.size(); i++) {
      long end = System.nanoTime() + patience.toNanos();
      LockRef lock = locks.get(i);
      int id = i;
      AmqpLock mutex = observer.lock(CoreLocks.id(lock));
      try (SoleConsumer consumer =
          SoleConsumer.of(
                  mutex,
                  broker.connectionFactory(),
                  queue(lock).name(),
                  delivery -> handle(id, delivery))
              .build()) {
        consumer.start();
        while (!MessageCheck.missing(lock, history).isEmpty() && System.nanoTime() < end) {
          Round.pause(Duration.ofMillis(50));
        }
      }
    }
  }

  private void handle(int id, Delivery delivery) {
    String number = delivery.properties().getMessageId();
    // A message without a number is a stranger's.
    if (number != null) {
      did(id, What.HANDLED, Long.parseLong(number));
    }
  }

  private void did(int id, What what, long number) {
    long now = System.nanoTime();
    history.did(NAME, new Event(id, 0, what, now, now, 1, number, null));
  }

  /** A long run must not fill the broker. */
  void delete() {
    try (Connection connection = connect()) {
      Channel channel = connection.createChannel();
      for (LockRef lock : locks) {
        channel.queueDelete(queue(lock).name());
        channel.exchangeDelete(queue(lock).ingress());
      }
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Consumed queues stay at the broker", e);
    }
  }
}
