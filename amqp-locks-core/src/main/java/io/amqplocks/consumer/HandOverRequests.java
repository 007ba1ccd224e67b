package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How one consumer of a queue asks the active one to stop: by a message in a queue beside it, which
 * the active one consumes. A request that nobody receives at once is dropped, so none reaches a
 * later active one. The newcomer repeats its request.
 *
 * <p>Concurrency: immutable; {@link Asking} is for one thread.
 */
final class HandOverRequests {

  private static final Logger log = LoggerFactory.getLogger(HandOverRequests.class);

  static final String SUFFIX = ".hand-over";

  private static final String TYPE = "amqp-locks.hand-over";
  private static final long CONFIRM_MILLIS = 10_000;

  /**
   * The arguments of wake queues: messages reach present consumers only, and the queue expires
   * soon.
   */
  private static final Map<String, Object> ARGUMENTS =
      Map.of("x-queue-type", "classic", "x-message-ttl", 0, "x-expires", 10_000);

  private final String consumed;
  private final String requests;
  private final String self = UUID.randomUUID().toString();

  HandOverRequests(String queue) {
    consumed = queue;
    requests = queue + SUFFIX;
  }

  /** Calls that for each request of another one, on a thread of the connection. */
  void listen(Connection open, Runnable asked) throws IOException {
    Channel channel = open.createChannel();
    if (channel == null) {
      throw new IOException("the broker allows this connection no second channel");
    }
    channel.queueDeclare(requests, true, false, false, ARGUMENTS);
    String unused =
        channel.basicConsume(
            requests,
            true,
            (tag, message) -> {
              if (isOfAnother(message.getProperties())) {
                asked.run();
              }
            },
            tag ->
                log.warn(
                    "Queue '{}' was deleted; nobody can ask the active consumer of '{}' to hand over before its connection ends",
                    requests,
                    consumed));
  }

  private boolean isOfAnother(AMQP.BasicProperties properties) {
    return TYPE.equals(properties.getType()) && !self.equals(properties.getMessageId());
  }

  /** Asks by a connection of its own, which it opens when it is needed. */
  final class Asking implements AutoCloseable {
    private final ConnectionFactory factory;
    private final AtomicBoolean returned = new AtomicBoolean();
    private @Nullable Connection connection;
    private @Nullable Channel channel;
    private @Nullable String said;

    Asking(ConnectionFactory factory) {
      this.factory = factory;
    }

    /** Asks the active one once. A failure is logged, and asking may be tried again. */
    void ask() {
      try {
        Channel open = channel == null ? open() : channel;
        returned.set(false);
        open.basicPublish(
            "",
            requests,
            true,
            new AMQP.BasicProperties.Builder().type(TYPE).messageId(self).build(),
            new byte[0]);
        // The broker returns what it cannot route before it confirms it.
        boolean unused = open.waitForConfirms(CONFIRM_MILLIS);
        if (returned.get()) {
          say("no active consumer takes requests, which handOverOnRequest() of its builder allows");
        }
      } catch (IOException | TimeoutException | RuntimeException e) {
        close();
        say(e.toString());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private Channel open() throws IOException, TimeoutException {
      connection = factory.newConnection("amqp-locks taking over " + consumed);
      Channel opened = connection.createChannel();
      if (opened == null) {
        throw new IOException("the broker allows this connection no channel");
      }
      opened.confirmSelect();
      opened.addReturnListener(message -> returned.set(true));
      channel = opened;
      return opened;
    }

    private void say(String reason) {
      if (!reason.equals(said)) {
        log.info("The active consumer of queue '{}' cannot be asked to stop: {}", consumed, reason);
        said = reason;
      }
    }

    @Override
    public void close() {
      Connection open = connection;
      connection = null;
      channel = null;
      if (open != null) {
        open.abort((int) CONFIRM_MILLIS);
      }
    }
  }
}
