package io.amqplocks.consumer;

import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.FailureLog;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes the queue during one term.
 *
 * <p>Concurrency: one thread opens connections, takes deliveries from a {@link Subscription}, has
 * them handled and acknowledges them, so messages are handled one after the other. Before each
 * message the term is checked; it never becomes current again, so no message is begun after its
 * end. The thread that stops the worker ends the subscription, so that others may consume, and
 * waits for the message in hand. After the grace period the connection is dropped, upon which the
 * broker requeues that message.
 */
final class Worker {

  private static final Logger log = LoggerFactory.getLogger(Worker.class);

  private static final long CLOSE_SECONDS = 10;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;
  private static final long LONGEST_PAUSE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(LONGEST_PAUSE_MILLIS);

  /** For the answers when it stops, without which the broker takes its messages back by itself. */
  private static final Duration LAST_PATIENCE = Duration.ofSeconds(5);

  /**
   * Even with a grace period of zero. Without it, what was sent ahead would count as a failed
   * delivery. An active queue waits for copies for half of it.
   */
  private static final Duration SHORTEST_PATIENCE = Duration.ofSeconds(2);

  /** How often it looks besides, if nothing comes. */
  private static final long LOOK_MILLIS = 100;

  private final SoleConsumerBuilder settings;
  private final StandBy connections;
  private final Leadership term;
  private final HandOverRequests requests;
  private final HandledIds handled;
  private final AtomicInteger stalls;
  private final Consumer<String> handOver;
  private final Thread thread;
  private volatile @Nullable Subscription subscription;
  private final CountDownLatch handedBack = new CountDownLatch(1);
  private volatile @Nullable ReadyConnection connection;
  private volatile @Nullable Delivery inHand;
  private boolean ending;
  private boolean stalled;
  private @Nullable String said;
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private Patience patience = Patience.FIRST;
  private long inVainSince = System.nanoTime();

  /**
   * Creates a worker.
   *
   * @param requests of others to stop
   * @param handled by this process, in earlier terms too
   * @param stalls in a row, by the connections of this process, in earlier terms too
   * @param handOver has this process hand over, for that reason
   */
  Worker(
      SoleConsumerBuilder settings,
      StandBy connections,
      Leadership term,
      HandOverRequests requests,
      HandledIds handled,
      AtomicInteger stalls,
      Consumer<String> handOver) {
    this.settings = settings;
    this.connections = connections;
    this.term = term;
    this.requests = requests;
    this.handled = handled;
    this.stalls = stalls;
    this.handOver = handOver;
    thread = new Thread(this::work, "amqp-locks consumer of " + settings.queue);
    thread.setDaemon(true);
  }

  boolean isOwnThread(Thread other) {
    return thread.equals(other);
  }

  /** Begins no other message. */
  void endAfterThis() {
    ending = true;
  }

  /** Whether it consumes during that term. */
  boolean isOf(Leadership other) {
    return term.equals(other);
  }

  private boolean goesOn() {
    return !ending && term.isCurrent();
  }

  /** If there is no thread, nothing is left to wait for. */
  void start() {
    try {
      thread.start();
    } catch (Error e) {
      handedBack.countDown();
      throw e;
    }
  }

  /**
   * The term has ended: waits until the message in hand is handled, for the grace period at most,
   * and for some seconds until the broker has the rest. Leaves nothing behind.
   */
  void stop(Revocation why, Duration grace) {
    long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(grace);
    boolean ended = false;
    try {
      Delivery delivery = inHand;
      Thread telling = delivery == null ? null : tellHandler(delivery, why);
      endSubscription(
          delivery == null
              ? LAST_PATIENCE.toNanos()
              : Math.max(SHORTEST_PATIENCE.toNanos(), end - System.nanoTime()));
      if (telling != null) {
        join(telling, end);
      }
      ended = isHandedBack(end);
      if (!ended && inHand == null) {
        sayUnanswered();
      } else if (!ended) {
        sayNotFinished(grace);
      }
    } finally {
      if (!ended) {
        drop();
        letGo();
      }
    }
  }

  /**
   * Drops the connection of a broker that does not answer within that time. The acknowledgement of
   * a message in hand needs it for the grace period.
   */
  private void endSubscription(long patienceNanos) {
    Subscription consuming = subscription;
    ReadyConnection open = connection;
    if (consuming == null || open == null) {
      return;
    }
    try (AnswerDeadline deadline = new AnswerDeadline(open, Duration.ofNanos(patienceNanos))) {
      consuming.end();
      if (!deadline.met()) {
        sayUnanswered();
      }
    }
  }

  /** No handler is at work and none is called any more, whatever the worker still waits for. */
  private void letGo() {
    if (inHand == null) {
      handedBack.countDown();
    }
  }

  private void sayUnanswered() {
    log.warn(
        "The broker did not answer in time when the active consumer of queue '{}' stopped; it takes back what it had sent ahead when it notices that the connection is closed",
        settings.queue);
  }

  private void sayNotFinished(Duration grace) {
    log.warn(
        "The handler of queue '{}' has not finished its message within {}; the message goes back to the queue",
        settings.queue,
        grace);
  }

  /** Waits until the broker has all back. The connection may take a little longer to close. */
  private boolean isHandedBack(long end) {
    try {
      boolean back = handedBack.await(0, TimeUnit.MILLISECONDS);
      while (!back && inHand != null && end - System.nanoTime() > 0) {
        back = handedBack.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      }
      return back
          || (inHand == null && handedBack.await(LAST_PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Whether no handler is at work, and none is called any more. */
  boolean hasHandedBack() {
    return handedBack.getCount() == 0;
  }

  /** Waits for that without a bound, as the handler may hang. Interrupts have no effect. */
  void awaitHandedBack() {
    boolean waits = true;
    while (waits) {
      try {
        handedBack.await();
        waits = false;
      } catch (InterruptedException e) {
        // The election interrupts its task at the end of the term, which says nothing of the
        // handler.
      }
    }
  }

  /** Waits until the connection is closed, but not for long, and not for a handler that hangs. */
  void awaitClosed() {
    if (hasHandedBack()) {
      join(thread, System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS));
    }
  }

  /**
   * On a thread of its own, since it is the application's code, and may hang. Without a thread, the
   * handler has its grace period all the same.
   */
  private @Nullable Thread tellHandler(Delivery delivery, Revocation why) {
    Thread telling =
        new Thread(
            () -> {
              try {
                settings.handler.interrupted(delivery, why);
              } catch (Exception | Error e) {
                log.warn("The handler of queue '{}' failed to be interrupted", settings.queue, e);
              }
            },
            thread.getName() + " interrupted");
    telling.setDaemon(true);
    try {
      telling.start();
      return telling;
    } catch (Error e) {
      FailureLog.write(
          () ->
              log.warn(
                  "There is no thread to tell the handler of queue '{}' that it is not active any more",
                  settings.queue,
                  e));
      return null;
    }
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
    Subscription consuming = subscription;
    if (consuming != null) {
      consuming.drop();
    }
    ReadyConnection open = connection;
    if (open != null) {
      open.abort();
    }
  }

  /** Any failure is said and tried again: while the term lasts, nobody else can consume. */
  private void work() {
    try {
      while (goesOn()) {
        try {
          connectAndConsume();
        } catch (Exception | Error e) {
          FailureLog.write(() -> say(e));
        }
        handOverIfInVain();
        pause();
      }
    } finally {
      handedBack.countDown();
      if (goesOn()) {
        handOver.accept("its thread failed");
      }
    }
  }

  /** Others may have a node that serves them, and cannot try while this one has the lock. */
  private void handOverIfInVain() {
    if (!goesOn()) {
      return; // a later term is another worker's
    }
    boolean sentNothing = stalled && StallDetection.areTooMany(stalls.get());
    stalled = false;
    if (sentNothing) {
      handOver.accept("RabbitMQ sends it none of the messages of queue '" + settings.queue + "'");
    } else if (System.nanoTime() - inVainSince > settings.longestInVainNanos) {
      handOver.accept(
          "it could not consume queue '" + settings.queue + "', or not acknowledge its messages");
    }
  }

  private void connectAndConsume() throws IOException, TimeoutException {
    ReadyConnection open = connections.take();
    boolean consumed = false;
    try {
      // Before the term is asked: whoever ends it either drops this or is seen here.
      connection = open;
      if (goesOn()) {
        consume(open);
        consumed = true;
      }
    } finally {
      if (!consumed) {
        open.abort();
      }
    }
    open.close();
  }

  private void consume(ReadyConnection open) throws IOException, TimeoutException {
    Subscription begun = begin(open);
    subscription = begun;
    StallDetection stall = new StallDetection(settings, open.connection(), stalls);
    long start = System.nanoTime();
    while (goesOn()) {
      if (begun.isOpen() && System.nanoTime() - start > LONGEST_PAUSE_NANOS) {
        forgetFailures();
      }
      Delivery next = begun.next(LOOK_MILLIS);
      if (next != null) {
        handle(next, begun);
        stall.received();
      } else if (stall.isStalled()) {
        stalled = true;
        throw new IOException("RabbitMQ sends none of its messages");
      } else if (!begun.isOpen()) {
        // Nobody has said so. Whoever was to do it may be held up by the application's code.
        throw new IOException("the channel is closed", open.channel().getCloseReason());
      }
    }
    begun.close();
    handedBack.countDown();
  }

  private Subscription begin(ReadyConnection open) throws IOException {
    settings.require(BrokerProfile.of(open.connection()));
    AnswerDeadline deadline = new AnswerDeadline(open, patience.time());
    try (deadline) {
      Subscription begun = Subscription.begin(open.channel(), settings, term, handled);
      if (!deadline.met()) {
        throw new IOException("too late");
      }
      patience = Patience.FIRST;
      if (settings.handsOverOnRequest) {
        requests.listen(open.connection(), settings, this::askedToStop);
      }
      return begun;
    } catch (IOException | RuntimeException e) {
      if (deadline.met() && !(e instanceof ChannelContinuationTimeoutException)) {
        patience = Patience.FIRST;
        throw e;
      }
      patience = patience.longer();
      IOException late = new IOException("the broker did not answer in time");
      late.addSuppressed(e);
      throw late;
    }
  }

  /** Unless it is an old connection, on which the request of a former term came late. */
  private void askedToStop() {
    if (term.isCurrent()) {
      handOver.accept("another consumer asked to take over");
    }
  }

  /**
   * Handles a message until that succeeds or the term is over. It stays in hand between attempts:
   * if it went back to the queue, those behind it would have to go back as well, to keep the order,
   * and a quorum queue would count that against all of them.
   */
  private void handle(Delivery delivery, Subscription from) throws IOException {
    while (from.isOpen()) {
      // Before the term is asked: whoever ends it either sees this or is seen here.
      inHand = delivery;
      if (!goesOn()) {
        inHand = null;
        from.giveBack(delivery);
        return;
      }
      long begun = System.nanoTime();
      boolean handled = attempt(delivery);
      inHand = null;
      if (handled) {
        // However long the handler took, it did not consume in vain meanwhile.
        inVainSince += System.nanoTime() - begun;
        from.settle(delivery);
        if (from.isOpen()) {
          forgetFailures();
        }
        return;
      }
      pause();
    }
  }

  /** The next failure is a new one: it is said, and the pause after it is short. */
  private void forgetFailures() {
    pauseMillis = FIRST_PAUSE_MILLIS;
    said = null;
    inVainSince = System.nanoTime();
  }

  private boolean attempt(Delivery delivery) {
    try {
      settings.handler.handle(delivery);
      return true;
    } catch (Exception | Error e) {
      int failures = delivery.fail();
      FailureLog.write(
          () ->
              log.warn(
                  "The handler of queue '{}' failed with a message, and is called with it again after a pause; failures of this message so far: {}",
                  settings.queue,
                  failures,
                  e));
      // Until then it got what it consumed.
      inVainSince = System.nanoTime();
      return false;
    } finally {
      // A handler may leave the flag set, which must end no wait of this thread. What stops it is
      // the term.
      boolean unused = Thread.interrupted();
    }
  }

  /** Each new reason once. */
  private void say(Throwable failure) {
    Throwable reason = failure.getCause() instanceof ShutdownSignalException e ? e : failure;
    String text = FailureLog.text(reason);
    if (!goesOn() || text.equals(said)) {
      log.debug("Queue '{}' cannot be consumed: {}", settings.queue, text);
    } else {
      log.warn(
          "Queue '{}' cannot be consumed by the active consumer, by the {}, which goes on trying; the queue{}"
              + " must exist, and the queue have no other consumer: {}",
          settings.queue,
          term.lock(),
          settings.ingress == null ? "" : " and exchange '" + settings.ingress + "'",
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
