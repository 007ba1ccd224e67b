package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes the queue during one term.
 *
 * <p>Concurrency: one thread opens connections, takes deliveries from a buffer, has them handled and
 * acknowledges them, so messages are handled one after the other. The client's threads only fill the
 * buffer. Before each message the term is asked; it never becomes current again, so nothing is begun
 * after its end. The thread that stops the worker waits for it, and then drops the connection, upon
 * which the broker requeues what is not acknowledged.
 */
final class Worker {

  private static final Logger log = LoggerFactory.getLogger(Worker.class);

  private static final long CLOSE_SECONDS = 10;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  /** Has it look whether the term is over. */
  private static final Object WAKE_UP = new Object();

  /** How often it looks besides, if nothing comes. */
  private static final long LOOK_MILLIS = 100;

  private final SoleConsumerBuilder settings;
  private final StandBy connections;
  private final Leadership term;
  private final HandOverRequests requests;
  private final Runnable asked;
  private final Thread thread;
  private volatile BlockingQueue<Object> buffer = new LinkedBlockingQueue<>();
  private final CountDownLatch handedBack = new CountDownLatch(1);
  private volatile @Nullable ReadyConnection connection;
  private volatile @Nullable Delivery inHand;
  private boolean ending;
  private @Nullable String said;
  private long pauseMillis = FIRST_PAUSE_MILLIS;

  /**
   * Creates a worker.
   *
   * @param requests of others to stop
   * @param asked has this process hand over
   */
  Worker(
      SoleConsumerBuilder settings,
      StandBy connections,
      Leadership term,
      HandOverRequests requests,
      Runnable asked) {
    this.settings = settings;
    this.connections = connections;
    this.term = term;
    this.requests = requests;
    this.asked = asked;
    thread = new Thread(this::work, "amqp-locks consumer of " + settings.queue);
    thread.setDaemon(true);
  }

  /** Begins no other message, if that thread is its own. Returns whether it is. */
  boolean endsAfterThis(Thread caller) {
    boolean own = thread.equals(caller);
    if (own) {
      ending = true;
    }
    return own;
  }

  private boolean goesOn() {
    return !ending && term.isCurrent();
  }

  void start() {
    thread.start();
  }

  /**
   * The term has ended: waits until the message in hand is handled, for the grace period at most, and
   * leaves nothing behind.
   */
  void stop(Revocation why, Duration grace) {
    long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(grace);
    buffer.add(WAKE_UP);
    Delivery delivery = inHand;
    boolean ended = false;
    try {
      if (delivery != null) {
        join(tellHandler(delivery, why), end);
      }
      ended = isHandedBack(end);
      if (!ended) {
        log.warn(
            "The handler of queue '{}' has not finished its message within {}; the message goes back to the queue",
            settings.queue,
            grace);
      }
    } finally {
      if (!ended) {
        drop();
      }
    }
  }

  /** Waits until the broker has all back. The connection may take a little longer to close. */
  private boolean isHandedBack(long end) {
    try {
      return handedBack.await(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Waits until the connection is closed, but not for long, and not for a handler that hangs. */
  void awaitClosed() {
    if (handedBack.getCount() == 0) {
      join(thread, System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS));
    }
  }

  /** On a thread of its own, since it is the application's code, and may hang. */
  private Thread tellHandler(Delivery delivery, Revocation why) {
    Thread telling =
        new Thread(
            () -> {
              try {
                settings.handler.interrupted(delivery, why);
              } catch (RuntimeException | Error e) {
                log.warn("The handler of queue '{}' failed to be interrupted", settings.queue, e);
              }
            },
            thread.getName() + " interrupted");
    telling.setDaemon(true);
    telling.start();
    return telling;
  }

  private static void join(Thread other, long end) {
    try {
      TimeUnit.NANOSECONDS.timedJoin(other, Math.max(1, end - System.nanoTime()));
    } catch (InterruptedException e) {
      // Only the end of the JVM interrupts the election's threads. The connection is closed at
      // once.
      Thread.currentThread().interrupt();
    }
  }

  private void drop() {
    ReadyConnection open = connection;
    if (open != null) {
      open.abort();
    }
  }

  /** Any failure is said and tried again: while the term lasts, nobody else can consume. */
  private void work() {
    try {
      while (goesOn()) {
        try (ReadyConnection open = connections.take()) {
          connection = open;
          consume(open);
        } catch (Exception | Error e) {
          say(e);
        }
        pause();
      }
    } finally {
      handedBack.countDown();
    }
  }

  private void consume(ReadyConnection open) throws IOException, TimeoutException {
    Channel channel = open.channel();
    BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    buffer = received;
    String unused =
        channel.basicConsume(
            settings.queue,
            false,
            "",
            false,
            true,
            Map.of(),
            (tag, message) -> received.add(new Delivery(term, message)),
            tag -> received.add("the broker cancelled the consumer"),
            (tag, signal) -> received.add(String.valueOf(signal.getMessage())));
    if (settings.handsOverOnRequest) {
      requests.listen(open.connection(), this::askedToStop);
    }
    while (goesOn()) {
      Object next = poll(received);
      if (next instanceof Delivery delivery) {
        if (!goesOn() || !handle(delivery, channel)) {
          break;
        }
      } else if (next != null && !WAKE_UP.equals(next)) {
        throw new IOException(next.toString());
      }
    }
    // Acknowledgements before it are processed, and all else goes back to the queue.
    channel.close();
    if (!goesOn()) {
      handedBack.countDown();
    }
  }

  /** Unless it is an old connection, on which the request of a former term came late. */
  private void askedToStop() {
    if (term.isCurrent()) {
      asked.run();
    }
  }

  private static @Nullable Object poll(BlockingQueue<Object> buffer) {
    try {
      return buffer.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // Nobody but a handler interrupts this thread, and what is to stop it is the term.
      return null;
    }
  }

  /** Returns false if the message goes back to the queue. */
  private boolean handle(Delivery delivery, Channel channel) throws IOException {
    inHand = delivery;
    try {
      settings.handler.handle(delivery);
    } catch (Exception | Error e) {
      log.warn(
          "The handler of queue '{}' failed; the message goes back to the queue, and is delivered again after a pause",
          settings.queue,
          e);
      return false;
    } finally {
      inHand = null;
    }
    if (delivery.isRejected()) {
      channel.basicReject(delivery.tag(), false);
    } else {
      channel.basicAck(delivery.tag(), false);
    }
    pauseMillis = FIRST_PAUSE_MILLIS;
    said = null;
    return true;
  }

  /** Each new reason once. */
  private void say(Throwable failure) {
    Throwable reason = failure.getCause() instanceof ShutdownSignalException e ? e : failure;
    String text = reason.toString();
    if (!goesOn() || text.equals(said)) {
      log.debug("Queue '{}' cannot be consumed: {}", settings.queue, text);
    } else {
      log.warn(
          "Queue '{}' cannot be consumed by the active consumer, by the {}, which goes on trying; the queue must exist"
              + " and have no other consumer: {}",
          settings.queue,
          term.lock(),
          text);
      said = text;
    }
  }

  private void pause() {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
    pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, pauseMillis * 2);
    while (goesOn() && end - System.nanoTime() > 0) {
      try {
        TimeUnit.MILLISECONDS.sleep(
            Math.min(LOOK_MILLIS, Math.max(1, (end - System.nanoTime()) / 1_000_000)));
      } catch (InterruptedException e) {
        // As above.
      }
    }
  }
}
