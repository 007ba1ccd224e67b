package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.BrokerErrors;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
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
 * <p>Concurrency: immutable, and so is {@link Listening}. {@link Asking} is for one thread.
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
   * Calls that for each request of another one, on a thread of the connection, until it is closed.
   * Does not wait for the broker: if the node of the requests' queue is down, nobody can ask, but
   * the active one has its messages. A failure is logged, and tried again after a pause.
   */
  void listen(Connection open, Runnable asked) {
    CountDownLatch closed = new CountDownLatch(1);
    // Called at once if it is closed already.
    open.addShutdownListener(cause -> closed.countDown());
    new Listening(open, closed, asked).begin(0);
  }

  /** Of one connection. Each time it has to begin, it does so on a thread of its own. */
  private final class Listening {
    private final Connection connection;
    private final CountDownLatch closed;
    private final Runnable asked;

    Listening(Connection connection, CountDownLatch closed, Runnable asked) {
      this.connection = connection;
      this.closed = closed;
      this.asked = asked;
    }

    void begin(long pauseMillis) {
      Thread thread =
          new Thread(
              () -> attempt(pauseMillis), "amqp-locks consumer of " + consumed + " listening");
      thread.setDaemon(true);
      thread.start();
    }

    private void attempt(long firstPauseMillis) {
      String last = "";
      long pause = firstPauseMillis;
      try {
        while (!closed.await(pause, TimeUnit.MILLISECONDS)) {
          String failure = listenOnce();
          if (failure == null) {
            return;
          }
          if (!failure.equals(last) && closed.getCount() > 0) {
            sayDeaf(failure);
            last = failure;
          }
          pause = Math.min(LONGEST_PAUSE_MILLIS, Math.max(FIRST_PAUSE_MILLIS, 2 * pause));
        }
      } catch (InterruptedException e) {
        // Nobody interrupts this thread.
      }
    }

    /** Returns why it cannot listen, or null. */
    private @Nullable String listenOnce() {
      Channel channel = null;
      try {
        channel = ReadyConnection.openChannel(connection);
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
                tag -> {
                  sayDeaf("it was deleted, or its node went down");
                  begin(FIRST_PAUSE_MILLIS);
                });
        return null;
      } catch (IOException | RuntimeException e) {
        abort(channel);
        return BrokerErrors.text(e);
      }
    }

    private void abort(@Nullable Channel channel) {
      try {
        if (channel != null) {
          channel.abort();
        }
      } catch (IOException | RuntimeException e) {
        log.debug("A channel to queue '{}' could not be closed", requests, e);
      }
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
