package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.BrokerErrors;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
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
 * <p>Concurrency: immutable. {@link Listening} is one thread; the client's threads tell it of the
 * end by a future. {@link Asking} is for one thread.
 */
final class HandOverRequests {

  private static final Logger log = LoggerFactory.getLogger(HandOverRequests.class);

  static final String SUFFIX = ".hand-over";

  private static final String TYPE = "amqp-locks.hand-over";
  private static final long CONFIRM_MILLIS = 10_000;
  private static final long FIRST_PAUSE_MILLIS = 1_000;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

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

  /**
   * Calls that for each request of another one, until that connection is closed. Does not wait for
   * the broker: if the node of the requests' queue is down, nobody can ask, but the active one has
   * its messages. A failure is logged, and tried again after a pause.
   *
   * @param consuming the connection of the active one; only its end matters here
   */
  void listen(Connection consuming, SoleConsumerBuilder settings, Runnable asked) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    // Called at once if it is closed already.
    consuming.addShutdownListener(cause -> over.complete(null));
    Thread thread =
        new Thread(
            new Listening(settings, over, asked),
            "amqp-locks consumer of " + consumed + " listening");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Listens by a connection of its own. RabbitMQ 4.x closes a connection that declares a queue
   * while the metadata store has no majority, and that of the consumer may go on meanwhile.
   */
  private final class Listening implements Runnable {
    private final SoleConsumerBuilder settings;
    private final CompletableFuture<Void> over;
    private final Runnable asked;
    private long pauseMillis = FIRST_PAUSE_MILLIS;
    private @Nullable String said;

    Listening(SoleConsumerBuilder settings, CompletableFuture<Void> over, Runnable asked) {
      this.settings = settings;
      this.over = over;
      this.asked = asked;
    }

    @Override
    public void run() {
      while (!over.isDone()) {
        String failure = listenOnce();
        if (!failure.equals(said) && !over.isDone()) {
          said = failure;
          sayDeaf(failure);
        }
        awaitOver(pauseMillis);
        pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis);
      }
    }

    private void awaitOver(long millis) {
      try {
        over.get(millis, TimeUnit.MILLISECONDS);
      } catch (InterruptedException | ExecutionException | TimeoutException e) {
        // Nobody interrupts this thread.
      }
    }

    /** Listens for as long as it can. Returns why it cannot any more. */
    private String listenOnce() {
      Connection own = null;
      try {
        own = settings.connect("amqp-locks hand-over requests of " + consumed);
        if (over.isDone()) {
          return "";
        }
        CompletableFuture<String> end = new CompletableFuture<>();
        consume(ReadyConnection.openChannel(own), end);
        return CompletableFuture.anyOf(over, end).thenApply(String::valueOf).join();
      } catch (IOException | TimeoutException | RuntimeException | Error e) {
        return BrokerErrors.text(e);
      } finally {
        if (own != null) {
          own.abort((int) CONFIRM_MILLIS);
        }
      }
    }

    private void consume(Channel channel, CompletableFuture<String> end) throws IOException {
      channel.queueDeclare(requests, true, false, false, ARGUMENTS);
      String unused =
          channel.basicConsume(
              requests,
              true,
              Map.of(),
              (tag, message) -> {
                if (isOfAnother(message.getProperties())) {
                  asked.run();
                }
              },
              tag -> end.complete("it was deleted, or its node went down"),
              (tag, signal) -> end.complete(BrokerErrors.text(signal)));
      // The next failure is a new one.
      pauseMillis = FIRST_PAUSE_MILLIS;
      said = null;
    }

    private void sayDeaf(String reason) {
      log.warn(
          "Nobody can ask the active consumer of queue '{}' to hand over until it can consume queue '{}' again, which it goes on trying: {}",
          consumed,
          requests,
          reason);
    }
  }

  private boolean isOfAnother(AMQP.BasicProperties properties) {
    return TYPE.equals(properties.getType()) && !self.equals(properties.getMessageId());
  }

  /** Asks by a connection of its own, which it opens when it is needed. */
  final class Asking implements AutoCloseable {
    private final SoleConsumerBuilder settings;
    private final AtomicBoolean returned = new AtomicBoolean();
    private @Nullable Connection connection;
    private @Nullable Channel channel;
    private @Nullable String said;

    Asking(SoleConsumerBuilder settings) {
      this.settings = settings;
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
      connection = settings.connect("amqp-locks taking over " + consumed);
      Channel opened = ReadyConnection.openChannel(connection);
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
